import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TrainingAlgorithm } from '@agentgym/contract'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import { dqnBenchmark } from './dqn-bench.ts'
import type { Figure } from './figure.ts'
import { percentile } from './http-load.ts'

type Say = (line: string) => void
type Run = { scenario: string; algorithm?: TrainingAlgorithm; set: Record<string, string> }

/** Nothing but rollouts and updates: no evaluation, no checkpoint. */
const bare = { evaluate_every: '0', evaluation_episodes: '1', checkpoint_every: '0' }
const wide = { environments: '1024', rollout_steps: '64', minibatch_size: '4096', epochs: '4' }
/** The network with memory and the one without: same hidden layer, environments and minibatches. */
const corridor = { steps: '120000', environments: '64', rollout_steps: '64', minibatch_size: '1024', hidden: '[64]' }

/**
 * Environment steps a second of whole trainings, as a user's run does them, each with the bar that it is measured by. A run's
 * value is the median over its iterations, the first few left out, so a pause of the machine does not count.
 */
export async function speedBenchmark(folder: string, say: Say): Promise<Figure[]> {
  const rate = async (id: string, what: string, bar: number, run: Run): Promise<Figure> => {
    say(`${what} …`)
    return { id, what, value: await stepsPerSecond(run, join(folder, id)), unit: 'steps/s', bar }
  }
  const own = (scenario: string, steps: number, set: Record<string, string> = {}): Run => ({
    scenario,
    algorithm: 'ppo',
    set: { steps: String(steps), ...set },
  })
  return [
    await rate('cart_pole', 'cart-pole, PPO, 1,024 environments, 4 epochs', 450_000, own('cart-pole', 2_621_440, wide)),
    await rate(
      'customer_support',
      'customer-support, PPO, its own settings',
      150_000,
      own('customer-support', 300_000),
    ),
    await rate('grid_maze', 'grid-maze, PPO, its own settings', 250_000, own('grid-maze', 500_000)),
    await rate(
      'breakout',
      'breakout, PPO, convolutions of 16 filters, 4 epochs',
      40_000,
      own('breakout', 100_000, { convolution: 'small', epochs: '4' }),
    ),
    await memoryRatio(folder, say),
    { ...(await dqnBenchmark(folder, say)), id: 'dqn' },
  ]
}

/** How many times as long a step takes with a GRU. */
async function memoryRatio(folder: string, say: Say): Promise<Figure> {
  const what = 't-maze, PPO, time a step with a GRU of 64 units over time without'
  say(`${what} …`)
  const rate = (memory: string) =>
    stepsPerSecond(
      {
        scenario: 't-maze',
        algorithm: 'ppo',
        set: { ...corridor, memory, ...(memory === 'gru' ? { memory_units: '64' } : {}) },
      },
      join(folder, `t-maze-${memory}`),
    )
  const value = (await rate('none')) / (await rate('gru'))
  return { id: 'memory', what, value, unit: '×', bar: 3, lower: true }
}

/** Median over the iterations of a run with two rollout workers and two learner threads. */
export async function stepsPerSecond({ scenario, algorithm, set }: Run, out: string): Promise<number> {
  const loaded = await loadScenario(fileURLToPath(new URL(`../../plugins/${scenario}`, import.meta.url)))
  const points: { steps: number; seconds: number }[] = []
  await train({
    scenario: loaded,
    plan: resolvePlan(loaded, { algorithm, set: { ...bare, rollout_workers: '2', learner_threads: '2', ...set } }),
    seed: 1,
    out,
    onEvent: (event) => {
      if (event.event === 'progress') points.push({ steps: event.steps, seconds: event.seconds })
    },
  })
  const warm = points.slice(Math.min(10, Math.floor(points.length / 4)))
  const rates = warm.slice(1).map(({ steps, seconds }, i) => (steps - warm[i].steps) / (seconds - warm[i].seconds))
  return percentile(rates, 0.5)
}
