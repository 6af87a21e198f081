import type { PolicySpec, SpaceDescription } from '@agentgym/contract'
import { convolutionLayers } from './convolution.ts'

/** Statistics of the normalizer that do not follow the observations, one entry a column. */
export type FixedStatistics = {
  /** 1: mean and variance are these and stay so; 0: they follow what is observed. */
  fixed: Uint8Array
  mean: Float32Array
  variance: Float32Array
}

/**
 * Statistics that scale images by their bounds to 0 … 1: a zero is then what the padding is, and a pattern has the same numbers
 * wherever it is. Statistics of each position would undo what a convolution shares, and a square that is seldom occupied
 * would enter as 10. Images without two bounds are standardized like all other numbers.
 */
export function imageStatistics(
  policy: Pick<PolicySpec, 'observation' | 'convolution'>,
  observation: SpaceDescription,
): FixedStatistics {
  const leaves = policy.observation.filter(({ kind }) => kind === 'box')
  const columns = boxesOf(observation).flatMap(({ low, high }, i) => {
    const image = convolutionLayers(policy, leaves[i]).length > 0
    return low.map((from, column) => (image ? scaleOf(from, high[column]) : null))
  })
  return {
    fixed: Uint8Array.from(columns, (scale) => (scale === null ? 0 : 1)),
    mean: Float32Array.from(columns, (scale) => scale?.from ?? 0),
    variance: Float32Array.from(columns, (scale) => (scale?.range ?? 1) ** 2),
  }
}

function boxesOf(space: SpaceDescription): Extract<SpaceDescription, { type: 'box' }>[] {
  if (space.type === 'dict') return space.entries.flatMap((entry) => boxesOf(entry.space))
  return space.type === 'box' ? [space] : []
}

/** The least range that counts beside the normalizer's epsilon, and the greatest that is one: ±3.4e38 says "any number". */
const RANGES = { least: 1e-2, greatest: 1e5 }

function scaleOf(from: number | null, to: number | null): { from: number; range: number } | null {
  if (from === null || to === null) return null
  const range = to - from
  return range >= RANGES.least && range <= RANGES.greatest ? { from, range } : null
}
