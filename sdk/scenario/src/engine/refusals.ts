import { describeValue } from './describe-value.ts'
import { Problem } from './engine-fault.ts'
import { objectHasOwn } from './primordials.ts'

/** What `step` returns, before anything about it is known. */
export type UnknownStepResult = { reward?: unknown; terminated?: unknown; truncated?: unknown }

const RESULT_HINT = 'Return { reward: number, terminated: boolean }.'

export function refuseStepResult(result: unknown): never {
  throw new Problem('scenario_invalid', `step returned ${describeValue(result)}`, RESULT_HINT)
}

export function refuseReward(reward: unknown): never {
  const tooLarge = typeof reward === 'number' && reward - reward === 0
  throw new Problem(
    'reward_not_finite',
    `step returned the reward ${describeValue(reward)}${tooLarge ? ', which is infinite in float32' : ''}`,
    'A reward must be a finite number; a scorer that fails must throw, not invent one.',
  )
}

export function refuseTerminated(terminated: unknown): never {
  throw new Problem(
    'scenario_invalid',
    `step returned terminated: ${describeValue(terminated)}, not a boolean`,
    RESULT_HINT,
  )
}

/** Gymnasium's environments say themselves when they are truncated; here that would be lost without a word. */
export function refuseTruncated(result: object): void {
  if (!objectHasOwn(result, 'truncated')) return
  throw new Problem(
    'scenario_invalid',
    'step returned truncated',
    'The engine owns the time limit: set maxSteps instead, and leave truncated out.',
  )
}

export function refuseState(): never {
  throw new Problem('scenario_invalid', 'reset returned undefined', 'Return the initial state of the episode.')
}

export function refusePending(callback: 'reset' | 'step'): never {
  throw new Problem(
    'scenario_timeout',
    `${callback} returned a promise that never settles`,
    'A scenario has no timers and no I/O, so there is nothing to wait for: return the result itself.',
  )
}

export function refuseEarlyEnd(step: number, recorded: number): never {
  throw new Problem(
    'scenario_nondeterministic',
    `a recorded episode ended early: at step ${step} of ${recorded} that were played before`,
    'Keep everything that changes in the state that reset returns, and draw randomness from rng.',
  )
}
