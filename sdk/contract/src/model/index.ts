export { checkModelStructure } from './check-model-structure.ts'
export { type ModelLimits, modelLimits } from './model-limits.ts'
export { actionOutputNames, policyOutputs } from './policy-tensors.ts'
