/** What the trainer and the evaluation share with everyone who runs an agent. Its interface may change with any version. */
export { Acting, type Decided } from './acting.ts'
export {
  type Call,
  callInvalid,
  readState,
} from './call-codec.ts'
export { agentGymHome } from './home.ts'
export { actionComponents } from './policy/action-components.ts'
export {
  environmentActions,
  greedyActions,
  type SampledActions,
  type SamplingRequest,
  sampleActions,
  threefry2x32,
} from './policy/action-sampling.ts'
export { distributionSize, gaussianSize, leafColumns } from './policy/distribution-columns.ts'
export { localModelLimits } from './policy/local-model-limits.ts'
export { addState, loadModelSession, type PolicySession, rowSize, runner } from './policy/model-session.ts'
export { type ExecutionProvider, type FloatTensor, loadSession, tensor } from './policy/onnx-session.ts'
export { checkPolicySpaces, type LeafOptions, outputNames, policyLeaves, type Spaces } from './policy/policy-leaves.ts'
export { LOG_STD_RANGE, logSlope, SQUASH_LIMIT, type Squash, type SquashKind, squashed } from './policy/squash.ts'
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
