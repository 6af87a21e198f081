/** A scenario with nothing set but its steps, or with the settings that a comparison changes. */
export type Experiment = {
  /** Unique; the command takes it as an argument. */
  id: string
  /** Folder in plugins/. */
  scenario: string
  steps: number
  /** `return_mean`, or the metric of the scenario's success criteria that is reported. */
  metric: string
  target: number
  /** What differs from the defaults. */
  set?: Record<string, string>
  /** What others publish for the same task; steps and settings are theirs. */
  published?: { score: number; steps: number; by: string }
}

const zoo = (score: number, steps: number) => ({ score, steps, by: 'RL-Zoo, PPO' })

/** What `npm run bench -- results` runs, quick ones first. */
export const suite: Experiment[] = [
  of('cart-pole', 100_000, 475, { published: zoo(500, 100_000) }),
  of('pendulum', 100_000, -200, { published: zoo(-172.2, 100_000) }),
  of('acrobot', 100_000, -100, { published: zoo(-73.5, 1_000_000) }),
  of('mountain-car', 100_000, -110, { published: zoo(-110.4, 1_000_000) }),
  of('lunar-lander', 300_000, 200, { published: zoo(242.1, 1_000_000) }),
  of('t-maze', 200_000, 0.95, { metric: 'solved' }),
  of('t-maze', 200_000, 0.95, { metric: 'solved', id: 't-maze-without-memory', set: { memory: 'none' } }),
  of('customer-support', 300_000, 0.95, { metric: 'solved' }),
  of('returns-desk', 300_000, 0.95, { metric: 'solved' }),
  of('grid-maze', 300_000, 0.95, { metric: 'solved' }),
  of('breakout', 200_000, 15),
  of('breakout', 200_000, 15, { id: 'breakout-mlp', set: { convolution: 'none' } }),
  of('snake', 200_000, 20, { metric: 'eaten' }),
  of('snake', 200_000, 20, { metric: 'eaten', id: 'snake-mlp', set: { convolution: 'none' } }),
]

export const seeds = [1, 2, 3, 4, 5]

function of(scenario: string, steps: number, target: number, rest: Partial<Experiment> = {}): Experiment {
  return { id: scenario, scenario, steps, metric: 'return_mean', target, ...rest }
}
