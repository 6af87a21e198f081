import type { ActionLeaf } from '@agentgym/contract'

/**
 * How a Gaussian's sample u becomes a number of a box: a = center + scale * f(u), with f
 *   tanh  between two bounds: they are the limits, center is between them
 *   exp   from one bound on: center is the bound; scale is -1 where it is the upper one
 *   sinh  without bounds: near 0 as good as linear, and far from it any magnitude is within reach
 * The mean of u may be any number, and every one of them has a gradient that leads back. The learner computes with u: in a
 * ratio of probabilities |da/du| cancels out. In C++: runtime/learner/src/squash.h.
 */
export type Squash = { kind: SquashKind; center: number; scale: number }
export type SquashKind = NonNullable<ActionLeaf['squash']>[number]

/**
 * SAC's log standard deviation is -1.5 + 3.5 tanh(network output), as in CleanRL's sac_continuous_action.py: within these
 * limits, and no output is without a gradient.
 */
export const LOG_STD_RANGE = { low: -5, high: 2 } as const

/** Beyond this, e^u would leave float32's range when it is scaled. */
export const SQUASH_LIMIT = 40

/** The action, before it is clipped to its bounds. */
export function squashed({ kind, center, scale }: Squash, u: number): number {
  if (kind === 'tanh') return center + scale * Math.tanh(u)
  const limited = Math.min(SQUASH_LIMIT, Math.max(-SQUASH_LIMIT, u))
  return center + scale * (kind === 'exp' ? Math.exp(limited) : Math.sinh(limited))
}

/** The u of an action of `squashed`: as far out as float32 tells, where the action is at its bound. */
export function unsquashed({ kind, center, scale }: Squash, action: number): number {
  const x = (action - center) / scale
  if (kind === 'sinh') return Math.asinh(x)
  const [least, most] = [2 ** -24, 1 - 2 ** -24]
  return kind === 'exp' ? Math.log(Math.max(least, x)) : Math.atanh(Math.min(most, Math.max(-most, x)))
}

/** log |da/du|. */
export function logSlope({ kind, scale }: Squash, u: number): number {
  const size = Math.log(Math.abs(scale))
  if (kind === 'exp') return size + u
  return size + (kind === 'tanh' ? -2 : 1) * logCosh(u)
}

/** tanh' = cosh^-2 and sinh' = cosh; written so that nothing overflows. */
function logCosh(u: number): number {
  const far = Math.abs(u)
  return far + Math.log1p(Math.exp(-2 * far)) - Math.LN2
}

/**
 * In a range of this half-width, a bound as far from 0 says "as far as you like", as Gymnasium's ±3.4e38 does: nothing tells
 * the scale to learn at. It still clips. Smaller ones are meant: a scenario may count in units of a millionth.
 */
const NO_BOUND = 1e18

/** SAC explores the whole of a box from its first step on, so it believes all bounds that float32 can compute with. */
export const NO_BOUND_OF_SAC = 1e18

/** The squashes of a box leaf's columns, from its bounds. */
export function squashLeaf(leaf: ActionLeaf, noBound = NO_BOUND): ActionLeaf {
  if (leaf.kind !== 'box' || leaf.fixed !== undefined) return leaf
  const columns = leaf.low.map((low, i) => squashFor(low, leaf.high[i], noBound))
  return {
    ...leaf,
    center: columns.map(({ center }) => center),
    scale: columns.map(({ scale }) => scale),
    squash: columns.map(({ kind }) => kind),
  }
}

function squashFor(low: number | null, high: number | null, noBound: number): Squash {
  const scale = low === null || high === null ? Number.POSITIVE_INFINITY : Math.fround(high / 2 - low / 2)
  const wide = !(scale < noBound)
  const lower = low !== null && !(wide && low <= -noBound) ? low : null
  const upper = high !== null && !(wide && high >= noBound) ? high : null
  if (lower !== null && upper !== null && scale > 0) {
    return { kind: 'tanh', center: Math.fround(lower / 2 + upper / 2), scale }
  }
  if (lower !== null && upper === null) return { kind: 'exp', center: lower, scale: 1 }
  if (lower === null && upper !== null) return { kind: 'exp', center: upper, scale: -1 }
  // No bounds, or an interval of one point.
  return { kind: 'sinh', center: lower ?? 0, scale: 1 }
}
