import type { PolicySpec, SpaceDescription } from '@agentgym/contract'
import { columnOrder } from '@agentgym/scenario/engine'
import { convolutionLayers } from './convolution.ts'

/** Statistics of the normalizer that do not follow the observations, one entry a column. */
export type FixedStatistics = {
  /** 1: mean and variance are these and stay so; 0: they follow what is observed. */
  fixed: Uint8Array
  mean: Float32Array
  variance: Float32Array
}

/**
 * Largest value of a board after scaling. Few squares of a board are occupied: with 1, what stands on a single square hardly moves
 * the first dense layer, and is learned slowly. Images that are large enough to be halved are full of numbers, and enter as
 * 0 … 1.
 */
export const BOARD_RANGE = 5

/**
 * Statistics that scale images by their bounds to 0 … 1, boards to 0 … 5: a zero is then what the padding is, and a pattern has
 * the same numbers wherever it is. Statistics of each position would undo what a convolution shares, and a square that is
 * seldom occupied would enter as 10. Images without two bounds are standardized like all other numbers. Vectors of a sentence encoder stay as
 * they are: standardized, numbers that hardly vary would be as loud as those that carry the meaning.
 */
export function fixedStatistics(
  policy: Pick<PolicySpec, 'observation' | 'convolution'>,
  observation: SpaceDescription,
): FixedStatistics {
  const spaces = numericSpaces(observation)
  const leaves = policy.observation.filter(({ kind }) => kind === 'box')
  const columns = leaves.flatMap((leaf, i) => {
    const space = spaces[i]
    if (space.type === 'text') return Array.from({ length: leaf.size }, () => ({ from: 0, range: 1 }))
    const layers = convolutionLayers(policy, leaf)
    if (space.type !== 'box' || layers.length === 0) return Array.from({ length: leaf.size }, () => null)
    const largest = layers.some(({ stride }) => stride > 1) ? 1 : BOARD_RANGE
    const order = columnOrder(space)
    const scales = space.low.map((low, i) => scaleOf(low, space.high[i], largest))
    return order === null ? scales : inOrder(scales, order)
  })
  return {
    fixed: Uint8Array.from(columns, (scale) => (scale === null ? 0 : 1)),
    mean: Float32Array.from(columns, (scale) => scale?.from ?? 0),
    variance: Float32Array.from(columns, (scale) => (scale?.range ?? 1) ** 2),
  }
}

function inOrder<Value>(values: readonly Value[], order: readonly number[]): Value[] {
  const placed: Value[] = []
  order.forEach((column, i) => {
    placed[column] = values[i]
  })
  return placed
}

/** The spaces of a policy's leaves of the kind `box`, in their order: texts are among them where an encoder reads them. */
function numericSpaces(space: SpaceDescription): Exclude<SpaceDescription, { type: 'dict' }>[] {
  if (space.type === 'dict') return space.entries.flatMap((entry) => numericSpaces(entry.space))
  const encoded = space.type === 'text' && space.encoder !== undefined
  return space.type === 'box' || space.type === 'list' || encoded ? [space] : []
}

/** The least range that counts beside the normalizer's epsilon, and the greatest that is one: ±3.4e38 says "any number". */
const RANGES = { least: 1e-2, greatest: 1e5 }

function scaleOf(from: number | null, to: number | null, largest: number): { from: number; range: number } | null {
  if (from === null || to === null) return null
  const range = to - from
  return range >= RANGES.least && range <= RANGES.greatest ? { from, range: range / largest } : null
}
