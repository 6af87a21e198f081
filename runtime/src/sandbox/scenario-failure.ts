import { AgentGymError, type ErrorCode, errorCatalog, escapeOutput } from '@agentgym/contract'
import { type Phase, phases } from '@agentgym/scenario/engine'
import type { Place } from './board.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

/** Longest piece of a guest's own text in a message: more would bury what we say. */
const MAX_DETAIL = 600

/** What to do about each code, where the fault itself does not say it better. */
const hints: Partial<Record<ErrorCode, string>> = {
  scenario_invalid:
    'Compare the definition with the contract of defineScenario; `agentgym scenario init` writes one that works.',
  scenario_timeout: 'Look for an endless loop, a promise that never settles or work that grows with the episode.',
  scenario_out_of_memory: 'Look for state that grows every step, or make what reset builds smaller.',
  scenario_crashed: 'Look for very deep recursion or very large arrays; the same seed fails again at the same place.',
  scenario_threw: 'The same seed throws again at the same place: replay it with `agentgym scenario check`.',
  reward_not_finite: 'Return a finite number from step for every state, including the last of an episode.',
  observation_invalid: 'Return from observe exactly what the observation space declares, as finite numbers.',
  mask_invalid: 'Return from actionMask one boolean an action (a list of them a component for multiDiscrete).',
  no_legal_action: 'Leave at least one action legal, or end the episode (terminated) when none is left.',
  metrics_invalid: 'Return from metrics an object of finite numbers, with the same names every episode.',
}

/** `(environment 3, episode 2, step 17)`, as far as it is known. */
function describePlace({ environment, episode, step }: Place): string {
  if (environment === undefined) return ''
  return step === 0
    ? ` (environment ${environment}, episode ${episode})`
    : ` (environment ${environment}, episode ${episode}, step ${step})`
}

type ScenarioFault = {
  code: ErrorCode
  place: Place
  /** Completes the sentence "Scenario name@version: … (environment 3, episode 2, step 17)." */
  what: string
  hint?: string
  data?: Record<string, unknown>
}

/** The one way in which a scenario's failure becomes an error: it always names scenario, version and place. */
export function scenarioError(identity: ScenarioIdentity, fault: ScenarioFault): AgentGymError {
  const { code, place, what } = fault
  return new AgentGymError({
    code,
    message: `Scenario ${identity.name}@${identity.version}: ${escapeOutput(what, MAX_DETAIL)}${describePlace(place)}.`,
    hint: fault.hint ?? hints[code],
    data: { scenario: identity.name, version: identity.version, ...place, ...fault.data },
  })
}

/** `0.5 s` or `10 s`, for messages. */
export function formatMs(milliseconds: number): string {
  return `${milliseconds / 1000} s`
}

/** What the harness says of a fault; a guest cannot forge more than its strings. */
type ReportedFault = {
  code: string
  message: string
  hint: string
  phase: Phase
  environment?: number
  step?: number
  episode?: number
  /** The author's stack. */
  detail: string
}

/** A fault that the engine found. Its code `harness` is a mistake of ours: an assertion, not an expected failure. */
export function explainFault(identity: ScenarioIdentity, text: string): Error {
  const fault = JSON.parse(text) as ReportedFault
  const { phase, environment, step, episode, message } = fault
  if (!Object.hasOwn(errorCatalog, fault.code) || !phases.includes(phase)) return new Error(message)
  const place: Place = phase === 'load' || phase === 'define' ? { phase } : { phase, environment, step, episode }
  // An allocation that the limit refused is memory, whatever V8 calls it.
  const memory = fault.code === 'scenario_threw' && message.includes('Array buffer allocation failed')
  return scenarioError(identity, {
    code: memory ? 'scenario_out_of_memory' : (fault.code as ErrorCode),
    place,
    what: message,
    hint: fault.hint === '' ? undefined : fault.hint,
    data: fault.detail === '' ? undefined : { stack: fault.detail },
  })
}

/** An error that isolated-vm threw instead of returning: a limit was reached, or a rejection was left unhandled. */
export function explainCrossing(
  identity: ScenarioIdentity,
  place: Place,
  error: unknown,
  timeoutMs: number,
): AgentGymError {
  const message = error instanceof Error ? error.message : `${typeof error} that is not an Error`
  if (message === 'Script execution timed out.') {
    return scenarioError(identity, {
      code: 'scenario_timeout',
      place,
      what: `${place.phase} did not return within ${formatMs(timeoutMs)}`,
      data: { limit_ms: timeoutMs },
    })
  }
  if (message.includes('disposed during execution due to memory limit')) {
    const what = `${place.phase} used more memory than the isolate may`
    return scenarioError(identity, { code: 'scenario_out_of_memory', place, what })
  }
  if (message.startsWith('Isolate was disposed') || message.startsWith('Isolate is disposed')) {
    return scenarioError(identity, { code: 'scenario_crashed', place, what: `${place.phase} ended the isolate` })
  }
  return scenarioError(identity, {
    code: 'scenario_threw',
    place,
    what: `${place.phase} left a rejected promise unhandled: ${message}`,
    hint: 'Await every promise, or catch what it rejects with.',
  })
}

/** The bundle does not compile; nothing of it has run. */
export function explainSyntax(identity: ScenarioIdentity, error: unknown): AgentGymError {
  const message = error instanceof Error ? error.message : 'it is no script'
  return scenarioError(identity, {
    code: 'scenario_invalid',
    place: { phase: 'load' },
    what: `the bundle does not compile: ${message}`,
    hint: 'Build it again with `agentgym scenario build`.',
  })
}
