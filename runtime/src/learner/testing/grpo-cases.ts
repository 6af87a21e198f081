import type { PolicySpec } from '@agentgym/contract'
import type { GrpoUpdate, RolloutSegment } from '../learner-types.ts'
import { randomRollout } from './ppo-cases.ts'

/** One epoch and one minibatch, without penalties, unless a test says otherwise. */
export function grpoUpdate(changes: Partial<GrpoUpdate> = {}): GrpoUpdate {
  return {
    algorithm: 'grpo',
    groupSize: 2,
    epochs: 1,
    minibatchSize: 1_000_000,
    optimizer: 'adam',
    learningRate: 1e-3,
    clipRange: 0.2,
    entropyCoefficient: 0,
    klCoefficient: 0,
    maxGradientNorm: 0.5,
    targetKl: null,
    normalizeObservation: false,
    seed: 7,
    ...changes,
  }
}

/** Episodes of random numbers, one an environment, of these lengths; rows beyond an end hold what must not be read. */
export function randomEpisodes(spec: PolicySpec, lengths: number[], random: () => number): RolloutSegment {
  const environments = lengths.length
  const segment = randomRollout(spec, { steps: Math.max(...lengths), environments, ends: 0 }, random)
  const sizes = { observation: segment.observations.length / (segment.rewards.length + environments) }
  lengths.forEach((length, i) => {
    segment.flags[(length - 1) * environments + i] = 1
    for (let row = length * environments + i; row < segment.rewards.length; row += environments) {
      segment.rewards[row] = Number.NaN
      segment.logProbabilities[row] = Number.NaN
      segment.observations.fill(Number.NaN, row * sizes.observation, (row + 1) * sizes.observation)
    }
  })
  return { ...segment, lengths: Int32Array.from(lengths) }
}

/** The same rollout, cut into segments of these numbers of environments. */
export function cutSegments(segment: RolloutSegment, parts: number[]): RolloutSegment[] {
  const { steps, environments } = segment
  const rows = steps * environments
  let first = 0
  return parts.map((count) => {
    const take = <Values extends Float32Array | Uint8Array>(values: Values, every: number): Values => {
      const size = values.length / (every * environments)
      const from = first
      return values.filter((_, i) => {
        const environment = Math.floor(i / size) % environments
        return environment >= from && environment < from + count
      }) as Values
    }
    const part: RolloutSegment = {
      steps,
      environments: count,
      observations: take(segment.observations, rows / environments + 1),
      finalObservations: take(segment.finalObservations, steps),
      actions: take(segment.actions, steps),
      logProbabilities: take(segment.logProbabilities, steps),
      rewards: take(segment.rewards, steps),
      flags: take(segment.flags, steps),
      masks: segment.masks === null ? null : take(segment.masks, steps),
      lengths: segment.lengths?.slice(first, first + count) ?? null,
      states: segment.states === null ? null : take(segment.states, 1),
    }
    first += count
    return part
  })
}
