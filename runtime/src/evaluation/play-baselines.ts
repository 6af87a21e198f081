import { AgentGymError, type Baseline } from '@agentgym/contract'
import { RandomActions } from '@agentgym/playing'
import type { SandboxedEnvironment } from '../sandbox/sandboxed-environment.ts'
import { type EpisodeOutcome, playEpisodes } from './play-episodes.ts'

export type BaselineOutcomes = { player: Baseline['player']; outcomes: EpisodeOutcome[] }

/** The seed of the random player: the same in every evaluation, so that it is the same player. */
const RANDOM_SEED = 1

/**
 * Plays an evaluation's episodes without an agent: at random among what is legal, and by the scenario's rules if it has any.
 * `open` makes an environment of these episodes. Rules that fail are left out: they are the author's fault, not the agent's.
 */
export function playBaselines(episodes: number, open: () => SandboxedEnvironment): BaselineOutcomes[] {
  const random = using(open, (environment) => {
    const player = new RandomActions(environment.description, RANDOM_SEED)
    return playEpisodes(environment, episodes, () => player.fill(environment.buffers))
  })
  const rules = using(open, (environment) =>
    environment.description.rules === true ? playRules(environment, episodes) : null,
  )
  return [
    { player: 'random', outcomes: random },
    ...(rules === null ? [] : [{ player: 'rules' as const, outcomes: rules }]),
  ]
}

function playRules(environment: SandboxedEnvironment, episodes: number): EpisodeOutcome[] | null {
  try {
    return playEpisodes(environment, episodes, () => environment.rules())
  } catch (error) {
    if (error instanceof AgentGymError) return null
    throw error
  }
}

function using<Result>(open: () => SandboxedEnvironment, use: (environment: SandboxedEnvironment) => Result): Result {
  const environment = open()
  try {
    return use(environment)
  } finally {
    environment.dispose()
  }
}
