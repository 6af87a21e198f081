import { AgentGymError, type ErrorCode, escapeOutput } from '@agentgym/contract'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'

/** Longest piece of the process's own text in a message. */
const MAX_DETAIL = 600

/** An environment of the run, and where in an episode it is; `step` counts from 1 and is 0 in a reset. */
export type ExternalPlace = { environment: number; episode: number; step: number }

type ExternalFault = {
  code: ErrorCode
  /** Completes the sentence "Environment NAME: … (environment 3, episode 2, step 17)." */
  what: string
  place?: ExternalPlace
  hint?: string
  data?: Record<string, unknown>
}

const hints: Partial<Record<ErrorCode, string>> = {
  reward_not_finite: 'Return a finite number for every step, including the last of an episode.',
  observation_invalid: 'Return what the observation space declares, as finite numbers.',
  mask_invalid: 'Return one 0 or 1 for each choice of the action.',
  no_legal_action: 'Leave at least one action legal, or end the episode.',
  environment_timeout: 'Raise the limit with --step-timeout SECONDS, or look for what its step waits for.',
  environment_failed: 'Look at the output of its process.',
}

/** The one way in which a fault of a process of the user's becomes an error: it names environment and step. */
export function externalError(identity: ScenarioIdentity, fault: ExternalFault): AgentGymError {
  const { code, what, place, hint = hints[code], data } = fault
  const where =
    place === undefined
      ? ''
      : ` (environment ${place.environment}, episode ${place.episode}${place.step === 0 ? '' : `, step ${place.step}`})`
  return new AgentGymError({
    code,
    message: `Environment ${identity.name}: ${escapeOutput(what, MAX_DETAIL)}${where}.`,
    ...(hint === undefined ? {} : { hint }),
    data: { scenario: identity.name, version: identity.version, ...place, ...data },
  })
}
