import type { PolicySpec } from '@agentgym/contract'
import { distributionSize, parameterLayout } from '../../policy/parameter-layout.ts'
import { referenceForward } from '../../policy/testing/reference-forward.ts'
import type { Minibatch, PpoUpdate } from '../learner-types.ts'
import { actionSizes } from './ppo-cases.ts'

const LOG_TWO_PI = Math.log(2 * Math.PI)

type Forward = { distribution: ArrayLike<number>; values: ArrayLike<number> }

/** Log-probability and entropy of each sample's action, and the critic's output, in plain float64 loops. */
function referenceScores(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  { distribution, values }: Forward = referenceForward(spec, weights, minibatch.observations, minibatch.size),
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
      let at = row * columns + leaf.distributionOffset
      let mask = row * sizes.mask + leaf.maskOffset
      for (let i = 0; i < leaf.size; i++) {
        const action = minibatch.actions[row * sizes.action + leaf.offset + i]
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

/** CleanRL's PPO loss of one minibatch, in plain float64. */
export function referenceLoss(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  update: PpoUpdate,
): number {
  const { size } = minibatch
  const mean = minibatch.advantages.reduce((a, b) => a + b, 0) / size
  const variance = minibatch.advantages.reduce((sum, a) => sum + (a - mean) ** 2, 0) / (size - 1)
  let loss = 0
  referenceScores(spec, weights, minibatch).forEach(({ logProbability, entropy, value }, i) => {
    const ratio = Math.exp(logProbability - minibatch.logProbabilities[i])
    const raw = minibatch.advantages[i]
    const advantage = update.normalizeAdvantage && size > 1 ? (raw - mean) / (Math.sqrt(variance) + 1e-8) : raw
    const clipped = Math.min(Math.max(ratio, 1 - update.clipRange), 1 + update.clipRange)
    let square = (value - minibatch.returns[i]) ** 2
    if (update.clipRangeValue !== null) {
      const old = minibatch.values[i]
      const near = old + Math.min(Math.max(value - old, -update.clipRangeValue), update.clipRangeValue)
      square = Math.max(square, (near - minibatch.returns[i]) ** 2)
    }
    loss += Math.max(-advantage * ratio, -advantage * clipped)
    loss += update.valueCoefficient * 0.5 * square - update.entropyCoefficient * entropy
  })
  return loss / size
}

/**
 * The minibatch with old log-probabilities that put its ratios on both sides of the clip: within ±0.4 of this policy's
 * own. `forward`, where given, is the policy's output for it.
 */
export function nearPolicy(
  spec: PolicySpec,
  weights: Float32Array,
  minibatch: Minibatch,
  random: () => number,
  forward?: Forward,
): Minibatch {
  const scores = referenceScores(spec, weights, minibatch, forward)
  const logProbabilities = Float32Array.from(scores, ({ logProbability }) => logProbability + (random() * 2 - 1) * 0.4)
  return { ...minibatch, logProbabilities }
}
