export { tokenize, WORD } from '../tokenize.ts'
export { type ActionDecoder, actionDecoder, maskEncoder } from './action-codec.ts'
export * from './environment-buffers.ts'
export { describeThrown, EngineFault, type FaultCode, isDefinitionError, Problem, printable } from './faults.ts'
export { type ActionLeaf, actionLeaves, type ObservationLeaf, observationLeaves } from './leaves.ts'
export { type ObservationEncoder, observationEncoder, type TextSink } from './observation-encoder.ts'
export { isArray, lengthOfTypedArray, max, typedArrayName, uncurryThis } from './primordials.ts'
export type { ScenarioDescription } from './read-definition.ts'
export { describeScenario } from './read-definition.ts'
export {
  columnOrder,
  encodedCharacters,
  type SpaceDescription,
  type TextEncoderName,
  textEncoders,
} from './read-space.ts'
export { type SeededCrypto, seededCrypto } from './seeded-crypto.ts'
export { createEngine, DONE, type Engine, PENDING, type Progress, VIRTUAL_EPOCH_MS } from './vector-engine.ts'
