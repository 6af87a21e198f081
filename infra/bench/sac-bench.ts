import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadScenario, resolvePlan, train } from '@agentgym/runtime'
import type { Figure } from './figure.ts'

const common = {
  train_frequency: '1',
  gradient_steps: '1',
  learning_starts: '1000',
  evaluate_every: '0',
  evaluation_episodes: '1',
  checkpoint_every: '0',
}

const networks = [
  { id: 'sac_steps_per_second', steps: '12000', hidden: '[64,64]', minibatch_size: '128' },
  { id: 'sac_default_steps_per_second', steps: '2500', hidden: '[256,256]', minibatch_size: '256' },
]

/** Environment steps a second of SAC on pendulum, one gradient step each: a small network, and that of the defaults. */
export async function sacBenchmark(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const scenario = await loadScenario(fileURLToPath(new URL('../../plugins/pendulum', import.meta.url)))
  const figures: Figure[] = []
  for (const { id, ...network } of networks) {
    const { hidden, minibatch_size } = network
    say(`SAC: pendulum, ${hidden}, one minibatch of ${minibatch_size} for every step …`)
    const points: { steps: number; seconds: number }[] = []
    await train({
      scenario,
      plan: resolvePlan(scenario, { algorithm: 'sac', set: { ...common, ...network } }),
      seed: 1,
      out: join(folder, id),
      onEvent: (event) => {
        if (event.event === 'progress' && event.learner.value_loss !== null) points.push(event)
      },
    })
    const [first, last] = [points[0], points[points.length - 1]]
    figures.push({
      id,
      what: `whole SAC training at a train ratio of 1, ${hidden}, minibatch ${minibatch_size}`,
      value: (last.steps - first.steps) / (last.seconds - first.seconds),
      unit: 'steps/s',
      bar: null,
    })
  }
  return figures
}
