import type { ActionLeaf, PolicySpec } from '../policy-spec.ts'

/** Names of the tensors that a model gives for one action leaf. */
export function actionOutputNames(leaf: ActionLeaf): { logits: string } | { mean: string; logStd: string } {
  const prefix = leaf.name === 'action' ? '' : `${leaf.name}.`
  return leaf.kind === 'box' ? { mean: `${prefix}mean`, logStd: `${prefix}log_std` } : { logits: `${prefix}logits` }
}

/** Dimensions of a model's float32 inputs by name, without the batch: one a leaf of the observation. */
export function policyInputs(spec: PolicySpec): Map<string, number[]> {
  return new Map(spec.observation.map(({ name, size }) => [name, [size]]))
}

/** Dimensions of a model's float32 outputs by name, without the batch. */
export function policyOutputs(spec: PolicySpec): Map<string, number[]> {
  const outputs = new Map<string, number[]>()
  for (const leaf of spec.action) {
    const columns = leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((sum, count) => sum + count, 0)
    for (const name of Object.values(actionOutputNames(leaf))) outputs.set(name, [columns])
  }
  return outputs.set('value', [])
}
