import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'

/** One minibatch of 32, Stable-Baselines3's size, for every 4 environment steps: a train ratio of 1/4. */
const settings = {
  steps: '400000',
  environments: '64',
  rollout_steps: '32',
  train_frequency: '4',
  gradient_steps: '1',
  minibatch_size: '32',
  hidden: '[64,64]',
  learning_starts: '2048',
  exploration_steps: '100000',
  target_update_interval: '2000',
  learning_rate: '0.0005',
  n_step: '1',
  evaluate_every: '0',
  evaluation_episodes: '1',
  checkpoint_every: '0',
}

/** Environment steps a second of a whole DQN run on cart-pole; a rollout worker plays while the learner learns. */
export async function dqnBenchmark(folder: string, say: (line: string) => void): Promise<Figure> {
  say(
    'DQN: cart-pole, 64 environments, 64-64, one minibatch of 32 for 4 steps, one rollout worker and one learner thread …',
  )
  const points: { steps: number; seconds: number }[] = []
  const scenario = await loadScenario(fileURLToPath(new URL('../../plugins/cart-pole', import.meta.url)))
  await train({
    scenario,
    plan: resolvePlan(scenario, { algorithm: 'dqn', set: settings }),
    seed: 1,
    out: join(folder, 'dqn'),
    onEvent: (event) => {
      if (event.event === 'progress') points.push({ steps: event.steps, seconds: event.seconds })
    },
  })
  // Learning starts with the second progress line.
  const [first, last] = [points[1], points[points.length - 1]]
  return {
    id: 'dqn_steps_per_second',
    what: 'whole DQN training at a train ratio of 1/4 on 2 cores',
    value: (last.steps - first.steps) / (last.seconds - first.seconds),
    unit: 'steps/s',
    bar: 1e5,
  }
}
