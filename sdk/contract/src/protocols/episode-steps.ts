import { AgentGymError } from '../agent-gym-error.ts'
import { requestInvalid } from './asked-agent.ts'

/** What a server keeps of an episode of an agent with memory, for clients that have a handle of it. */
export type KeptEpisode = {
  next_step: number
  /** What the agent remembers; null before the first decision. */
  state: string | null
  /** The last decision, and the hash of what it was asked, for calls that are sent again. */
  last: { asked: string; decision: Record<string, unknown> } | null
}

/** The handle and the step of a call of `act`. Throws `request_invalid`. */
export function readEpisodeStep({ episode_id, step }: Record<string, unknown>): { id: string; step: number } {
  const id = readEpisodeId({ episode_id })
  if (Number.isSafeInteger(step) && (step as number) >= 0) return { id, step: step as number }
  throw requestInvalid('arguments.step', 'it must be an integer from 0')
}

/** The handle of a call of `end_episode`. Throws `request_invalid`. */
export function readEpisodeId({ episode_id: id }: Record<string, unknown>): string {
  if (typeof id === 'string' && id.length <= 200) return id
  throw requestInvalid('arguments.episode_id', 'it must be a string')
}

/**
 * The decision of a step that was made before, where it is asked again with the same observation; undefined where `step` is the next
 * one. Throws `episode_step_invalid` for every other.
 */
export function decidedBefore(
  { next_step: next, last }: KeptEpisode,
  { step, asked }: { step: number; asked: string },
): Record<string, unknown> | undefined {
  if (last !== null && step === next - 1 && last.asked === asked) return last.decision
  if (step === next) return undefined
  const again = next === 0 ? '' : `; step ${next - 1} can be sent again with the same observation`
  throw new AgentGymError({
    code: 'episode_step_invalid',
    message: `The next step of this episode is ${next}, and the call says ${step}.`,
    hint: `Send step ${next} with the next observation${again}.`,
    data: { field: 'step', next_step: next },
  })
}

export function episodeNotFound(): AgentGymError {
  return new AgentGymError({
    code: 'episode_not_found',
    message:
      'There is no such episode: it was ended, is a day old, or was begun with another key or version of the agent.',
    hint: 'Begin a new one with start_episode.',
    data: { field: 'episode_id' },
  })
}

export function tooManyEpisodes(holder: 'This server' | 'Your account', most: number): AgentGymError {
  return new AgentGymError({
    code: 'rate_limited',
    message: `${holder} has ${most} episodes in progress, the most it can have at once.`,
    hint: 'End those that are over with end_episode.',
    data: { retry_after_seconds: 60 },
  })
}
