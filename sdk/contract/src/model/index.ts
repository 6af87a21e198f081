export { actionOutputNames, checkModelStructure, policyOutputs } from './check-model-structure.ts'
export { type ModelLimits, modelLimits } from './model-failure.ts'
