import type { ActionLeaf, PolicySpec } from '@agentgym/contract'

/**
 * Columns of the distribution row: logits of every categorical leaf, means of every box leaf. A squashed Gaussian, which has
 * boxes only, has a log standard deviation for every mean besides, after all of them.
 */
export function distributionSize(spec: PolicySpec): number {
  const columns = spec.action.reduce((sum, leaf) => sum + leafColumns(leaf), 0)
  return spec.head === 'squashed_gaussian' ? 2 * columns : columns
}

/** Columns of one leaf in the distribution row: none of what the policy does not choose. */
export function leafColumns(leaf: ActionLeaf): number {
  if (leaf.fixed !== undefined) return 0
  return leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((a, b) => a + b, 0)
}

/** Elements of the parameter `log_std`, which a squashed Gaussian does not have. */
export function gaussianSize(spec: PolicySpec): number {
  if (spec.head === 'squashed_gaussian') return 0
  return spec.action.reduce((sum, leaf) => sum + (leaf.kind === 'box' ? leafColumns(leaf) : 0), 0)
}
