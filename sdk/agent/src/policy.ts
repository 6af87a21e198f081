/** What chooses actions from a model's outputs, without a runtime that computes them: for pages, which have their own. */
export { greedyActions } from './policy/action-sampling.ts'
export { batchTensors, rowSize } from './policy/batch-tensors.ts'
export { likelyChoices } from './policy/likely-choices.ts'
export { localModelLimits } from './policy/local-model-limits.ts'
