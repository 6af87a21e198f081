/** What the trainer and the evaluation share with everyone who runs an agent. Its interface may change with any version. */
export { Acting, type Decided } from './acting.ts'
export {
  actionDescriber,
  type Call,
  callEncoder,
  callInvalid,
  choiceProbabilities,
  choosingLeaf,
  readState,
} from './call-codec.ts'
export { agentGymHome } from './home.ts'
export { explainFailure, obtainWheelFile, WheelFileMissing } from './obtain-wheel-file.ts'
export { actionComponents } from './policy/action-components.ts'
export {
  environmentActions,
  greedyActions,
  type SampledActions,
  type SamplingRequest,
  sampleActions,
  threefry2x32,
} from './policy/action-sampling.ts'
export { addState, rowSize } from './policy/batch-tensors.ts'
export { cudaProvider, onnxRuntimeVersion, requireCudaProvider } from './policy/cuda-provider.ts'
export { distributionSize, gaussianSize, leafColumns } from './policy/distribution-columns.ts'
export { likelyChoices } from './policy/likely-choices.ts'
export { localModelLimits } from './policy/local-model-limits.ts'
export { loadModelSession, type PolicySession, runner } from './policy/model-session.ts'
export { type ExecutionProvider, loadSession } from './policy/onnx-session.ts'
export {
  type ActingSpaces,
  checkPolicySpaces,
  type LeafOptions,
  outputNames,
  policyLeaves,
  type Spaces,
} from './policy/policy-leaves.ts'
export { LOG_STD_RANGE, logSlope, SQUASH_LIMIT, type Squash, type SquashKind, squashed } from './policy/squash.ts'
export { type FloatTensor, tensor } from './policy/tensors.ts'
export { readAgent, readAgentWithModel } from './read-agent.ts'
export { sha256 } from './sha256.ts'
export { encoderFile, encoderFolder, obtainEncoder } from './texts/obtain-encoder.ts'
export type { EncoderFiles } from './texts/sentence-encoder.ts'
export { type EncodedLeaf, encodedLeaves, encoderSources, type TextEncoderName } from './texts/sentence-encoders.ts'
export {
  type EncodedText,
  type EncoderSet,
  type EncodingCounts,
  obtainEncoders,
  TextVectors,
} from './texts/text-vectors.ts'
export { writePython, writeTypeScript } from './write-types.ts'
