import { RandomActions } from '@agentgym/playing'
import { createSandboxedEnvironment } from '../sandboxed-environment.ts'
import type { ScenarioCode } from '../scenario-code.ts'
import { IdleActions } from './idle-actions.ts'
import { ENVIRONMENTS, EPISODES, playWhole } from './whole-episodes.ts'

/** Means over evaluation episodes: of the return, and of every metric. */
export type PlayedMeans = { return_mean: number; metrics: Record<string, number> }

export const scriptedPlayers = ['random', 'idle', 'oracle'] as const

/** Enough for all episodes of a built-in scenario. */
const BUDGET_MS = 60_000

/**
 * What players without training reach on 96 evaluation episodes: uniform legal actions, always the first legal action (0 in
 * boxes), and the scenario's oracle. Null where there is no oracle. The same on every machine.
 * The scenario must be trusted: it runs in this thread, without a supervisor.
 */
export function playScripted(scenario: ScenarioCode): Record<(typeof scriptedPlayers)[number], PlayedMeans | null> {
  const play = (player: (typeof scriptedPlayers)[number]): PlayedMeans | null => {
    const plan = { split: 'eval', episodes: EPISODES * ENVIRONMENTS } as const
    const environment = createSandboxedEnvironment({ ...scenario, environments: ENVIRONMENTS, seed: 1, plan })
    const { description } = environment
    try {
      if (player === 'oracle' && description.oracle !== true) return null
      const policies = {
        random: () => new RandomActions(description, 1),
        idle: () => new IdleActions(description),
        oracle: () => ({ fill: () => environment.oracle() }),
      }
      const reached = playWhole(environment, policies[player](), { budgetMs: BUDGET_MS, leastEpisodes: EPISODES })
      return reached === null ? null : { return_mean: reached.mean, metrics: reached.metrics }
    } finally {
      environment.dispose()
    }
  }
  return { random: play('random'), idle: play('idle'), oracle: play('oracle') }
}

/** The spaces of a trusted scenario. */
export function spacesOf(scenario: ScenarioCode) {
  const environment = createSandboxedEnvironment({ ...scenario, environments: 1, seed: 1, plan: { split: 'train' } })
  environment.dispose()
  return environment.description
}
