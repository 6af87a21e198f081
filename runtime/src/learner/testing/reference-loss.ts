import { distributionSize, logSlope } from '@agentgym/agent/engine'
import type { PolicySpec } from '@agentgym/contract'
import { parameterLayout } from '../../policy/parameter-layout.ts'
import { referenceForward, referenceSequences } from '../../policy/testing/reference-forward.ts'
import type { GrpoUpdate, Minibatch, PpoUpdate } from '../learner-types.ts'
import { actionSizes } from './ppo-cases.ts'

const LOG_TWO_PI = Math.log(2 * Math.PI)

/** Nodes and weights of Gauss and Hermite for a standard normal, as in runtime/learner/src/squash.h. */
export const quadrature = [
  [0, 0.457142857142857],
  ...[
    [1.154405394739968, 0.240123178605013],
    [2.366759410734541, 0.030757123967586],
    [3.750439717725742, 0.000548268855972],
  ].flatMap(([node, weight]) => [
    [node, weight],
    [-node, weight],
  ]),
]

type Forward = { distribution: ArrayLike<number>; values: ArrayLike<number> }

/** Log-probability and entropy of each sample's action, and the critic's output, in plain float64 loops. */
function referenceScores(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  { distribution, values }: Forward = minibatch.sequences === undefined
    ? referenceForward(spec, weights, minibatch.observations, minibatch.size)
    : referenceSequences(spec, weights, minibatch.observations, minibatch.sequences),
) {
  const { parameters } = parameterLayout(spec)
  const offsetOf = (name: string) => parameters.find((parameter) => parameter.name === name)?.offset ?? 0
  const scale = weights[offsetOf('value.scale')]
  const logStd = offsetOf('log_std')
  const columns = distributionSize(spec)
  const sizes = actionSizes(spec)
  const scores = Array.from({ length: minibatch.size }, (_, row) => {
    let logProbability = 0
    let entropy = 0
    for (const leaf of spec.action) {
      const { when } = leaf
      if (leaf.fixed !== undefined) continue
      if (when !== undefined && minibatch.actions[row * sizes.action + when.column] !== when.choice) continue
      let at = row * columns + leaf.distributionOffset
      let mask = row * sizes.mask + leaf.maskOffset
      for (let i = 0; i < leaf.size; i++) {
        const action = minibatch.actions[row * sizes.action + leaf.offset + i]
        if (leaf.kind === 'box' && leaf.squash !== undefined) {
          const squash = { kind: leaf.squash[i], center: leaf.center[i], scale: leaf.scale[i] }
          const deviation = Math.exp(weights[logStd + leaf.logStdOffset + i])
          const mean = distribution[at++]
          const z = (action - mean) / deviation
          logProbability += -0.5 * z * z - Math.log(deviation) - 0.5 * LOG_TWO_PI - logSlope(squash, action)
          entropy += 0.5 + 0.5 * LOG_TWO_PI + Math.log(deviation)
          for (const [node, weight] of quadrature) entropy += weight * logSlope(squash, mean + deviation * node)
          continue
        }
        if (leaf.kind === 'box') {
          const deviation = leaf.scale[i] * Math.exp(weights[logStd + leaf.logStdOffset + i])
          const z = (action - distribution[at++]) / deviation
          logProbability += -0.5 * z * z - Math.log(deviation) - 0.5 * LOG_TWO_PI
          entropy += 0.5 + 0.5 * LOG_TWO_PI + Math.log(deviation)
          continue
        }
        const legal = Array.from({ length: leaf.counts[i] }, (_, j) => j).filter(
          (j) => minibatch.masks?.[mask + j] !== 0,
        )
        const total = legal.reduce((sum, j) => sum + Math.exp(distribution[at + j]), 0)
        for (const j of legal) {
          const p = Math.exp(distribution[at + j]) / total
          entropy -= p * Math.log(p)
        }
        logProbability += distribution[at + action] - Math.log(total)
        at += leaf.counts[i]
        mask += leaf.counts[i]
      }
    }
    return { logProbability, entropy, value: values[row] / scale }
  })
  return scores
}

/** The loss of one minibatch, in plain float64: CleanRL's of PPO (A2C's without a clip), or GRPO's. */
export function referenceLoss(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  update: PpoUpdate | GrpoUpdate,
): number {
  const { size } = minibatch
  const advantages = update.algorithm === 'ppo' && update.normalizeAdvantage ? standardised(minibatch) : null
  let loss = 0
  referenceScores(spec, weights, minibatch).forEach(({ logProbability, entropy, value }, i) => {
    const ratio = Math.exp(logProbability - minibatch.logProbabilities[i])
    const advantage = advantages?.[i] ?? minibatch.advantages[i]
    const range = update.clipRange ?? Number.POSITIVE_INFINITY
    const clipped = Math.min(Math.max(ratio, 1 - range), 1 + range)
    loss += Math.max(-advantage * ratio, -advantage * clipped) - update.entropyCoefficient * entropy
    if (update.algorithm === 'ppo') {
      loss += update.valueCoefficient * 0.5 * squaredError(value, minibatch, i, update)
    } else if (minibatch.referenceLogProbabilities !== null) {
      const distance = minibatch.referenceLogProbabilities[i] - logProbability
      loss += update.klCoefficient * (Math.exp(distance) - distance - 1)
    }
  })
  return loss / size
}

function standardised({ advantages, size }: Minibatch): number[] | null {
  if (size < 2) return null
  const mean = advantages.reduce((a, b) => a + b, 0) / size
  const variance = advantages.reduce((sum, a) => sum + (a - mean) ** 2, 0) / (size - 1)
  return Array.from(advantages, (a) => (a - mean) / (Math.sqrt(variance) + 1e-8))
}

function squaredError(value: number, minibatch: Minibatch, i: number, { clipRangeValue }: PpoUpdate): number {
  const square = (value - minibatch.returns[i]) ** 2
  if (clipRangeValue === null) return square
  const old = minibatch.values[i]
  const near = old + Math.min(Math.max(value - old, -clipRangeValue), clipRangeValue)
  return Math.max(square, (near - minibatch.returns[i]) ** 2)
}

/** Within ±0.4, but not on an edge of the clip range 0.2, where the gradient jumps: rounding would pick the side. */
function logRatio(random: () => number): number {
  for (;;) {
    const drawn = (random() * 2 - 1) * 0.4
    if (Math.abs(Math.exp(drawn) - 0.8) > 1e-3 && Math.abs(Math.exp(drawn) - 1.2) > 1e-3) return drawn
  }
}

/** An old value within ±2, but not where a value loss clipped to ±0.2 has a kink. */
function oldValue(value: number, target: number, random: () => number): number {
  for (;;) {
    const old = random() * 4 - 2
    const near = old + Math.min(Math.max(value - old, -0.2), 0.2)
    const tie = Math.abs(value - old) > 0.2 && Math.abs(Math.abs(near - target) - Math.abs(value - target)) < 1e-3
    if (!tie && Math.abs(Math.abs(value - old) - 0.2) > 1e-3) return old
  }
}

/**
 * The minibatch with old values away from the kinks of a clipped value loss, with old log-probabilities that put its ratios on both sides of the clip, and a reference policy's on
 * both sides of this policy's own: within ±0.4 and ±1 of it. `forward`, where given, is the policy's output for it.
 */
export function nearPolicy(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  random: () => number,
  forward?: Forward,
): Minibatch {
  const scores = referenceScores(spec, weights, minibatch, forward)
  const logProbabilities = Float32Array.from(scores, ({ logProbability }) => logProbability - logRatio(random))
  const reference = Float32Array.from(scores, ({ logProbability }) => logProbability + (random() * 2 - 1))
  const values = Float32Array.from(scores, ({ value }, i) => oldValue(value, minibatch.returns[i], random))
  return { ...minibatch, logProbabilities, referenceLogProbabilities: reference, values }
}
