export { actionOutputNames, checkModelStructure, checkPublishedModel, policyOutputs } from './check-model-structure.ts'
export { type ModelLimits, modelLimits } from './model-failure.ts'
