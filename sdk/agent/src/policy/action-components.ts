import type { PolicySpec } from '@agentgym/contract'
import { distributionSize } from './distribution-columns.ts'
import type { Squash } from './squash.ts'

/** A component that counts only in rows whose action has `choice` in `column`; null: in every row. */
type Condition = { column: number; choice: number } | null

/** One choice among `count` values. Offsets are columns of the distribution, mask and action rows. */
export type CategoricalComponent = {
  block: number
  logits: number
  count: number
  mask: number
  action: number
  when: Condition
  /** Not chosen: this value, or the first legal one. Null: sampled. */
  fixed: number | null
}

/** One Gaussian number. Components 2k and 2k + 1 of a leaf share a block of random bits: `half` 0 and 1. */
export type GaussianComponent = {
  block: number
  half: 0 | 1
  mean: number
  action: number
  /** Column of `log_std`: in the distribution row where the deviation depends on the state. */
  logStd: number
  low: number
  high: number
  /** Null: the sample itself is the action. */
  squash: Squash | null
  when: Condition
}

/** A number that is not chosen. */
export type FixedComponent = { action: number; value: number; when: Condition }

/**
 * The action space as a list of components, in the order of the action row: independent of each other but for those that
 * count only upon a choice, which is an earlier categorical one.
 */
export type ActionComponents = {
  categorical: CategoricalComponent[]
  gaussian: GaussianComponent[]
  fixed: FixedComponent[]
  distributionSize: number
  /** Whether the distribution row has the log standard deviations. */
  deviationInRow: boolean
  maskSize: number
  actionSize: number
  /** Most values that a categorical component has. */
  largestCount: number
}

const cache = new WeakMap<PolicySpec, ActionComponents>()

/** Worked out once a spec. */
export function actionComponents(spec: PolicySpec): ActionComponents {
  let components = cache.get(spec)
  if (components === undefined) {
    components = build(spec)
    cache.set(spec, components)
  }
  return components
}

function build(spec: PolicySpec): ActionComponents {
  const categorical: CategoricalComponent[] = []
  const gaussian: GaussianComponent[] = []
  const fixed: FixedComponent[] = []
  let block = 0
  let maskSize = 0
  let actionSize = 0
  const deviationInRow = spec.head === 'squashed_gaussian'
  const firstDeviation = deviationInRow ? distributionSize(spec) / 2 : 0
  for (const leaf of spec.action) {
    const when = leaf.when ?? null
    actionSize += leaf.size
    if (leaf.kind === 'box' && leaf.fixed !== undefined) {
      leaf.fixed.forEach((value, i) => {
        fixed.push({ action: leaf.offset + i, value, when })
      })
      continue
    }
    if (leaf.kind === 'box') {
      for (let i = 0; i < leaf.size; i++) {
        gaussian.push({
          block: block + (i >> 1),
          half: (i & 1) as 0 | 1,
          mean: leaf.distributionOffset + i,
          action: leaf.offset + i,
          logStd: firstDeviation + leaf.logStdOffset + i,
          low: leaf.low[i] ?? Number.NEGATIVE_INFINITY,
          high: leaf.high[i] ?? Number.POSITIVE_INFINITY,
          squash:
            leaf.squash === undefined ? null : { kind: leaf.squash[i], center: leaf.center[i], scale: leaf.scale[i] },
          when,
        })
      }
      block += (leaf.size + 1) >> 1
      continue
    }
    let before = 0
    leaf.counts.forEach((count, i) => {
      const [logits, mask] = [leaf.distributionOffset + before, leaf.maskOffset + before]
      categorical.push({
        block: block++,
        logits,
        count,
        mask,
        action: leaf.offset + i,
        when,
        fixed: leaf.fixed?.[i] ?? null,
      })
      before += count
    })
    maskSize += before
  }
  const largestCount = categorical.reduce((largest, { count }) => Math.max(largest, count), 0)
  const sizes = { distributionSize: distributionSize(spec), maskSize, actionSize }
  return { categorical, gaussian, fixed, deviationInRow, ...sizes, largestCount }
}
