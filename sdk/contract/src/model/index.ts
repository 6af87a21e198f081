export {
  actionOutputNames,
  checkModelStructure,
  checkPublishedModel,
  policyInputs,
  policyOutputs,
  STATE_INPUT,
  STATE_OUTPUT,
  stateSize,
} from './check-model-structure.ts'
export { type ModelLimits, modelLimits } from './model-failure.ts'
