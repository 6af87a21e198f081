import type { TrainingAlgorithm } from '@agentgym/contract'
import { updateSeed } from '../training/algorithm.ts'

/** How a setting is drawn. */
type Range =
  /** Uniform in the logarithm; `digits` significant ones, so that a block of settings stays readable. */
  | { kind: 'log'; low: number; high: number; digits?: number; integer?: boolean }
  /** 1 - x, with x uniform in the logarithm: a horizon of 1 / x steps. */
  | { kind: 'one_minus_log'; low: number; high: number }
  | { kind: 'choice'; values: readonly unknown[] }

export type SearchSpace = Readonly<Record<string, Range>>

const log = (low: number, high: number): Range => ({ kind: 'log', low, high })
const whole = (low: number, high: number): Range => ({ kind: 'log', low, high, integer: true })
const horizon = (low: number, high: number): Range => ({ kind: 'one_minus_log', low, high })
const choice = (...values: unknown[]): Range => ({ kind: 'choice', values })

const networks = choice([64, 64], [128, 128], [256, 256])
const yesOrNo = choice(false, true)

/**
 * What is searched, by algorithm: the settings that decide how a run learns, in ranges that contain the tuned settings of
 * RL-Zoo for scenarios of this size. Everything else keeps the scenario's value or the default.
 */
export const searchSpaces: Record<TrainingAlgorithm, SearchSpace> = {
  ppo: {
    learning_rate: log(1e-4, 5e-3),
    learning_rate_schedule: choice('constant', 'linear'),
    gamma: horizon(0.001, 0.05),
    gae_lambda: horizon(0.005, 0.2),
    entropy_coefficient: log(1e-5, 0.05),
    environments: choice(8, 16, 32, 64),
    rollout_steps: choice(32, 64, 128, 256),
    minibatch_size: choice(64, 128, 256, 512),
    epochs: choice(4, 8, 16, 20),
    clip_range: choice(0.1, 0.2, 0.3),
    hidden: networks,
    normalize_observation: yesOrNo,
    normalize_reward: yesOrNo,
  },
  grpo: {
    learning_rate: log(3e-4, 1e-2),
    learning_rate_schedule: choice('constant', 'linear'),
    entropy_coefficient: log(1e-5, 0.05),
    group_size: choice(4, 8, 16),
    groups: choice(4, 8, 16),
    minibatch_size: choice(64, 128, 256, 512),
    epochs: choice(2, 4, 8),
    clip_range: choice(0.1, 0.2, 0.3),
    hidden: networks,
    normalize_observation: yesOrNo,
  },
  a2c: {
    learning_rate: log(1e-4, 5e-3),
    learning_rate_schedule: choice('constant', 'linear'),
    gamma: horizon(0.001, 0.05),
    gae_lambda: choice(0.9, 0.95, 1),
    entropy_coefficient: log(1e-5, 0.05),
    environments: choice(4, 8, 16, 32),
    rollout_steps: choice(5, 8, 16, 32),
    optimizer: choice('rmsprop', 'adam'),
    hidden: networks,
    normalize_observation: yesOrNo,
    normalize_advantage: yesOrNo,
    normalize_reward: yesOrNo,
  },
  dqn: {
    learning_rate: log(1e-4, 3e-3),
    learning_rate_schedule: choice('constant', 'linear'),
    gamma: horizon(0.001, 0.05),
    minibatch_size: choice(32, 64, 128),
    train_frequency: choice(1, 2, 4, 8),
    n_step: choice(1, 3, 5),
    target_update_interval: whole(100, 2_000),
    exploration_final: log(0.01, 0.1),
    exploration_fraction: log(0.05, 0.5),
    hidden: networks,
    dueling: yesOrNo,
  },
  sac: {
    learning_rate: log(1e-4, 3e-3),
    learning_rate_schedule: choice('constant', 'linear'),
    gamma: horizon(0.001, 0.05),
    minibatch_size: choice(32, 64, 128),
  },
}

/**
 * The settings of a candidate, a function of the study's seed and the candidate's number alone. `fixed` are left out.
 * `mostSamples`: environments × rollout_steps may be this many, so that the shortest run still makes an update.
 */
export function drawSettings(
  space: SearchSpace,
  {
    seed,
    candidate,
    fixed = [],
    mostSamples,
  }: { seed: number; candidate: number; fixed?: string[]; mostSamples: number },
): Record<string, unknown> {
  const random = generator(updateSeed(seed, candidate))
  const settings: Record<string, unknown> = {}
  // Each is drawn, fixed ones too: fixing one setting leaves the others of every candidate as they were.
  for (const [name, range] of Object.entries(space)) {
    const value = drawValue(range, random())
    if (!fixed.includes(name)) settings[name] = value
  }
  const { environments, rollout_steps } = settings
  if (typeof environments === 'number' && typeof rollout_steps === 'number') {
    const most = Math.max(1, Math.floor(mostSamples / environments))
    settings.rollout_steps = Math.min(rollout_steps, 2 ** Math.floor(Math.log2(most)))
  }
  return settings
}

function drawValue(range: Range, u: number): unknown {
  if (range.kind === 'choice')
    return range.values[Math.min(range.values.length - 1, Math.floor(u * range.values.length))]
  const drawn = range.low * (range.high / range.low) ** u
  if (range.kind === 'one_minus_log') return 1 - Number(drawn.toPrecision(2))
  return range.integer ? Math.round(drawn) : Number(drawn.toPrecision(range.digits ?? 2))
}

/** Uniform in [0, 1); mulberry32. */
export function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
