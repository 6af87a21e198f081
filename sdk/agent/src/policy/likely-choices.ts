import type { PolicySpec, RecordedStep } from '@agentgym/contract'
import { recordedEpisodeLimits } from '@agentgym/contract'
import { actionComponents } from './action-components.ts'

/**
 * The likeliest choices of a policy's first component, which is the action itself or the tool, in the first row. Undefined for
 * a policy that has no probabilities: one of values, or of numbers.
 */
export function likelyChoices(
  spec: PolicySpec,
  distribution: Float32Array,
  masks: Uint8Array | null,
): RecordedStep['likely'] {
  const [first] = actionComponents(spec).categorical
  if (first === undefined || spec.head === 'q' || spec.head === 'dueling_q') return undefined
  const logits = Array.from({ length: first.count }, (_, choice) =>
    masks !== null && masks[first.mask + choice] !== 1 ? Number.NEGATIVE_INFINITY : distribution[first.logits + choice],
  )
  const highest = Math.max(...logits)
  const weights = logits.map((logit) => Math.exp(logit - highest))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights
    .map((weight, choice) => ({ choice, probability: weight / sum }))
    .sort((a, b) => b.probability - a.probability || a.choice - b.choice)
    .slice(0, recordedEpisodeLimits.likely)
}
