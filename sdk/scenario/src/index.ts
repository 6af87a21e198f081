export {
  type CalledContext,
  type DefinedScenario,
  defineScenario,
  type EpisodeContext,
  type Level,
  type ScenarioDefinition,
  type StepResult,
  type Task,
} from './define-scenario.ts'
export type { ToolEpisode, ToolProgress, ToolRewards, ToolScenarioDefinition } from './define-tool-scenario.ts'
export { defineToolScenario } from './define-tool-scenario.ts'
export { encodeObservation } from './engine/observation-encoder.ts'
export { createRng, type Rng } from './engine/random-stream.ts'
export type { SpaceDescription, TextEncoderName } from './engine/read-space.ts'
export { frameStack, type StackedState } from './frame-stack.ts'
export { type FrozenPolicy, type FrozenWeights, frozenPolicy } from './frozen-policy.ts'
export type { Scene, SceneColor, ScenePoint, SceneShape } from './scene.ts'
export {
  answer,
  drawFailures,
  type Failures,
  fails,
  fillIn,
  oneHot,
  RecordStore,
  type Stored,
  taskRng,
  typeInHaste,
  type Wordings,
  withDistinctIds,
} from './simulated-work.ts'
export {
  type ActionMaskOf,
  type ActionOf,
  type ActionSpace,
  type BoxSpace,
  box,
  type ChosenActionOf,
  type DictSpace,
  type DiscreteSpace,
  dict,
  discrete,
  type ListItem,
  type ListSpace,
  list,
  type MultiDiscreteSpace,
  multiDiscrete,
  type SampleOf,
  type Space,
  type TextSpace,
  text,
} from './spaces.ts'
export { tokenize } from './tokenize.ts'
export {
  type AllowedOf,
  type ArgumentOf,
  type ArgumentsOf,
  type ChoiceParameter,
  choice,
  type NumberParameter,
  number,
  type Parameter,
  type ParameterRecord,
  type PointerParameter,
  pointer,
} from './tool-parameters.ts'
export { type Tool, type ToolCall, type ToolResult, tool } from './tools.ts'
