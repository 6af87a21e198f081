import type { PolicySpec } from '@agentgym/contract'
import { criticLayout } from '../../policy/parameter-layout.ts'
import { buildPolicySpec } from '../../policy/policy-spec.ts'
import { randomWeights } from '../../policy/testing/policy-cases.ts'
import { referenceCritics, referenceForward } from '../../policy/testing/reference-forward.ts'
import type { Minibatch, SacUpdate } from '../learner-types.ts'
import { randomMinibatch } from './ppo-cases.ts'

const LOG_TWO_PI = Math.log(2 * Math.PI)

/** One gradient step on a small minibatch, unless a test says otherwise. */
export function sacUpdate(changes: Partial<SacUpdate> = {}): SacUpdate {
  return {
    algorithm: 'sac',
    gamma: 0.9,
    gradientSteps: 1,
    minibatchSize: 16,
    tau: 0.01,
    learningRate: 1e-3,
    entropyCoefficient: 0.3,
    learnEntropyCoefficient: true,
    targetEntropy: -1,
    seed: 7,
    ...changes,
  }
}

/** An actor of one linear layer, with one number to observe and one to choose, between -2 and 2. */
export function linearGaussian(): PolicySpec {
  return buildPolicySpec(
    {
      observation: { type: 'box', shape: [1], low: [null], high: [null] },
      action: { type: 'box', shape: [1], low: [-2], high: [2] },
    },
    {
      ...{ hidden: [], activation: 'relu', embedding: 1, normalizeObservation: false },
      ...{ boxActions: 'squashed', head: 'squashed_gaussian' },
    },
  )
}

export function randomCriticWeights(spec: PolicySpec, random: () => number): Float32Array {
  return randomWeights(spec, random, 0, 1, criticLayout(spec))
}

/** A minibatch with the noise that the actor's loss draws actions with. */
export function noisyMinibatch(
  spec: PolicySpec,
  size: number,
  random: () => number,
): Required<Pick<Minibatch, 'noise'>> & Minibatch {
  const minibatch = randomMinibatch(spec, size, random, false)
  return { ...minibatch, noise: minibatch.actions.map(() => random() * 4 - 2) }
}

const squashesOf = (spec: PolicySpec) => spec.action.flatMap((leaf) => leaf.squash ?? [])

/** Samples u as the critics see them. */
function coordinates(spec: PolicySpec, samples: ArrayLike<number>): number[] {
  const squashes = squashesOf(spec)
  return Array.from(samples, (u, i) => (squashes[i % squashes.length] === 'tanh' ? Math.tanh(u) : u))
}

type Kink = (share: number) => void

/** J_Q of runtime/learner/src/sac.h, in plain float64. */
export function referenceCriticLoss(
  spec: PolicySpec,
  critics: Float32Array,
  minibatch: Minibatch,
  onKink?: Kink,
): number {
  const { size, observations, actions, returns } = minibatch
  const values = referenceCritics(spec, critics, observations, coordinates(spec, actions), size, onKink)
  let loss = 0
  for (const q of values) for (let i = 0; i < size; i++) loss += (0.5 * (q[i] - returns[i]) ** 2) / size
  return loss
}

/** J_π, and the mean of -log π, in plain float64. */
export function referenceActorLoss(
  spec: PolicySpec,
  weights: Float32Array,
  critics: Float32Array,
  minibatch: Minibatch & { noise: Float32Array },
  { entropyCoefficient }: SacUpdate,
  onKink: Kink = () => {},
): { loss: number; entropy: number } {
  const { size, observations, noise } = minibatch
  const { distribution } = referenceForward(spec, weights, observations, size)
  const squashes = squashesOf(spec)
  const columns = squashes.length
  let logProbability = 0
  const samples = Array.from(noise, (z, at) => {
    const [row, i] = [Math.floor(at / columns), at % columns]
    const [mean, logStd] = [distribution[row * 2 * columns + i], distribution[row * 2 * columns + columns + i]]
    const u = mean + Math.exp(logStd) * z
    logProbability += -0.5 * z * z - logStd - 0.5 * LOG_TWO_PI
    if (squashes[i] === 'tanh') logProbability -= -2 * Math.log(Math.cosh(u))
    return u
  })
  const [one, other] = referenceCritics(spec, critics, observations, coordinates(spec, samples), size, onKink)
  let loss = (entropyCoefficient * logProbability) / size
  for (let i = 0; i < size; i++) {
    loss -= Math.min(one[i], other[i]) / size
    // The smaller of the two has a kink where they are equal.
    onKink(Math.abs(one[i] - other[i]) / Math.max(Math.abs(one[i]), Math.abs(other[i])))
  }
  return { loss, entropy: -logProbability / size }
}
