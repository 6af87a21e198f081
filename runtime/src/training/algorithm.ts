import type { RolloutSegment, UpdateMetrics } from '../learner/learner-types.ts'
import type { EpisodeSnapshot } from './checkpoint.ts'
import type { EpisodeResult } from './run-statistics.ts'

/** What one iteration played and what the learner said of it. */
export type Iteration = {
  /** Environment steps that were learned from. */
  steps: number
  /** Episodes that ended. */
  episodes: EpisodeResult[]
  metrics: UpdateMetrics
  learningRate: number
  /** Probability of a random action, of algorithms that have one. */
  explorationRate?: number
  collectSeconds: number
  updateSeconds: number
}

/** A learning algorithm as the training loop sees it: iterations until enough steps were played. */
export interface Algorithm {
  /** The run ends with the iteration that reaches this many environment steps. */
  readonly stepsTotal: number
  /** Plays and learns; `iteration` and `steps` are those done before. */
  iterate(place: { iteration: number; steps: number }): Promise<Iteration>
  /** The episodes under way, which a resumed run must go on with. */
  snapshot(): Promise<EpisodeSnapshot[]>
  restore(episodes: EpisodeSnapshot[]): Promise<void>
}

/** Sees what was played, while it is still in the segments. `iteration` counts from 1. */
export type RolloutObserver = (segments: RolloutSegment[], iteration: number) => void

/** Of an iteration that only played. */
export const nothingLearned: UpdateMetrics = {
  policyLoss: null,
  valueLoss: null,
  entropy: null,
  approximateKl: null,
  clipFraction: null,
  explainedVariance: null,
  klToReference: null,
  zeroVarianceGroups: null,
  valueMean: null,
  entropyCoefficient: null,
  gradientNorm: null,
  gradientSeconds: null,
  sharedSeconds: null,
  epochsRun: 0,
  minibatchesRun: 0,
}

/** Runs `work` and gives its result with the seconds that it took. */
export async function timed<Result>(work: Promise<Result>): Promise<{ result: Result; seconds: number }> {
  const started = performance.now()
  const result = await work
  return { result, seconds: (performance.now() - started) / 1000 }
}

/** A setting's value where `remaining` falls from 1 to (almost) 0 over the run. */
export function scheduled(value: number, schedule: 'constant' | 'linear', remaining: number): number {
  return schedule === 'linear' ? value * remaining : value
}

/** A seed of its own for every update, from the run's seed and the update's number alone (murmur3's finaliser). */
export function updateSeed(seed: number, iteration: number): number {
  let h = (seed ^ Math.imul(iteration + 1, 0x9e3779b9)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
