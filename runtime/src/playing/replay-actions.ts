import { AgentGymError, type ReplayedEpisode } from '@agentgym/contract'
import { locateFault } from '../sandbox/source-place.ts'
import { openPlay, type PlayedStep, type PlayOptions, type PlaySession } from './play-session.ts'

export type ReplayOptions = Pick<PlayOptions, 'scenario' | 'limits'> & {
  seed: number
  /** Number of the held-out episode. */
  episode: number
  /** All rows of its actions. */
  actions: readonly (readonly number[])[]
  signal?: AbortSignal
  /** Longest time for all steps together. Default: two minutes. */
  limitMs?: number
}

/**
 * Plays an episode from its actions alone, in a sandboxed process. Rejects with `action_invalid` for an action that the
 * episode does not allow and for one too few or too many, with `scenario_timeout` after the time limit, and with the
 * scenario's own faults.
 */
export async function replayActions(options: ReplayOptions): Promise<ReplayedEpisode> {
  const { scenario, seed, episode, actions, limits, signal, limitMs = 120_000 } = options
  const endsAt = performance.now() + limitMs
  try {
    const session = await openPlay({ scenario, player: 'person', seed, look: false, limits })
    try {
      await session.begin(episode)
      const rewards: number[] = []
      for (const [index, action] of actions.entries()) {
        signal?.throwIfAborted()
        if (performance.now() > endsAt) throw tooSlow(index, limitMs)
        requireLegal(session, action, index)
        const step = await session.step([...action])
        rewards.push(step.exact.reward)
        if (step.end !== null && index < actions.length - 1) throw endsEarly(index + 1, actions.length)
        if (step.end !== null) return episodeOf(session, episode, rewards, step)
      }
      throw goesOn(actions.length)
    } finally {
      await session.close()
    }
  } catch (error) {
    throw error instanceof AgentGymError ? locateFault(error, scenario.sourceMap, { frames: false }) : error
  }
}

function episodeOf(session: PlaySession, episode: number, rewards: number[], step: PlayedStep): ReplayedEpisode {
  const { end, digest, metrics } = step
  if (end === null || digest === null) throw new Error('the episode has not ended')
  return { episode, rewards, end, metrics, trajectory_hash: digest, tasks: session.opened.tasks }
}

/** Throws `action_invalid` unless the row is in the action space and legal now. Nothing is rounded or clipped. */
export function requireLegal(
  { opened, legal }: Pick<PlaySession, 'opened' | 'legal'>,
  row: readonly number[],
  index: number,
): void {
  const columns = opened.action.reduce((sum, { size }) => sum + size, 0)
  if (row.length !== columns) throw outside(index, `has ${row.length} numbers; the scenario’s have ${columns}`)
  let column = 0
  let component = 0
  for (const [leaf, { counts, low, high, when }] of opened.controls.entries()) {
    const asked = when === undefined || row[when.column] === when.choice
    for (let i = 0; i < opened.action[leaf].size; i++, column++) {
      const value = row[column]
      const count = counts[i]
      if (count === undefined) {
        // As the engine has them: float32.
        const [from, to] = [low[i] ?? Number.NEGATIVE_INFINITY, high[i] ?? Number.POSITIVE_INFINITY].map(Math.fround)
        if (!Object.is(Math.fround(value), value)) throw outside(index, `has ${value}, which is no float32`)
        if (!(value >= from && value <= to)) throw outside(index, `has ${value}, outside ${from} to ${to}`)
      } else {
        if (!Number.isInteger(value) || value < 0 || value >= count)
          throw outside(index, `chooses ${value} of ${count} choices`)
        if (asked && legal?.[component]?.[value] === false)
          throw outside(index, `chooses ${value}, which is not legal now`)
        component += 1
      }
    }
  }
}

function outside(index: number, what: string): AgentGymError {
  return new AgentGymError({
    code: 'action_invalid',
    message: `Action ${index + 1} ${what}.`,
    data: { step: index + 1 },
  })
}

function endsEarly(steps: number, given: number): AgentGymError {
  return new AgentGymError({
    code: 'action_invalid',
    message: `The episode ends after ${steps} of ${given} actions.`,
    data: { step: steps },
  })
}

function goesOn(given: number): AgentGymError {
  return new AgentGymError({
    code: 'action_invalid',
    message: `The episode does not end with its ${given} actions.`,
    data: { step: given },
  })
}

function tooSlow(steps: number, limitMs: number): AgentGymError {
  return new AgentGymError({
    code: 'scenario_timeout',
    message: `The scenario played ${steps} steps in ${limitMs / 1000} s, the longest that a replay may take.`,
    data: { step: steps },
  })
}
