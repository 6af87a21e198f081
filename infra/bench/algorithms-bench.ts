import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TrainingAlgorithm } from '@agentgym/contract'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'

const scenarios = ['customer-support', 'cart-pole']
const algorithms: TrainingAlgorithm[] = ['grpo', 'ppo']
const seeds = [21, 22, 23]

/** Held-out evaluations that may end a run: how finely "needed" is measured. */
const EVALUATE_EVERY = 10_000

/**
 * Episodes that GRPO and PPO play until held-out episodes meet a scenario's success criteria twice over, each with the
 * scenario's own settings for it: the mean of three seeds.
 */
export async function algorithmsBenchmark(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const scenario of scenarios) {
    for (const algorithm of algorithms) {
      say(`${scenario} by ${algorithm}, seeds ${seeds.join(', ')}, evaluated every ${EVALUATE_EVERY} steps …`)
      const needed: { episodes: number; steps: number }[] = []
      for (const seed of seeds) {
        const run = await untilSuccess(scenario, algorithm, seed, join(folder, `${scenario}-${algorithm}-${seed}`))
        say(`  seed ${seed}: ${run.episodes} episodes, ${run.steps} steps`)
        needed.push(run)
      }
      const mean = (of: 'episodes' | 'steps') => needed.reduce((sum, run) => sum + run[of], 0) / needed.length
      const id = `${scenario.replaceAll('-', '_')}_${algorithm}`
      const until = `${scenario} until success by ${algorithm.toUpperCase()}`
      figures.push({ id: `${id}_episodes`, what: until, value: mean('episodes'), unit: 'episodes', bar: null })
      figures.push({ id: `${id}_steps`, what: until, value: mean('steps'), unit: 'steps', bar: null })
    }
  }
  return figures
}

/** Infinite where the run ended without success. */
async function untilSuccess(name: string, algorithm: TrainingAlgorithm, seed: number, out: string) {
  const scenario = await loadScenario(fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url)))
  const set = { evaluate_every: String(EVALUATE_EVERY), stop_at_success: 'true' }
  let episodes = 0
  const { steps, evaluation } = await train({
    scenario,
    plan: resolvePlan(scenario, { algorithm, set }),
    seed,
    out,
    onEvent: (event) => {
      if (event.event === 'progress') episodes = event.episodes_total
    },
  })
  const solved = evaluation.success.ok === true
  return solved ? { episodes, steps } : { episodes: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY }
}
