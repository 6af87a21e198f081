/**
 * How clients of language models ask an agent, and how its answer is worded for them; and the vector protocol, by which
 * environments are stepped over a socket. Pure functions.
 */
export {
  type AgentAnswer,
  type AskedAgent,
  jsonOf,
  maskOfWords,
  observationOf,
  requestInvalid,
  type TokenUsage,
  tokensIn,
  wholeMask,
  wordsOf,
} from './asked-agent.ts'
export { chatChunks, chatCompletion, chatHistory, observedText, offerOfChat } from './chat-completions.ts'
export {
  type Chosen,
  chosen,
  decisionOf,
  type Question,
  questionCalls,
  readDecision,
  readSystemOne,
  systemOneOf,
} from './decisions.ts'
export {
  decidedBefore,
  episodeNotFound,
  type KeptEpisode,
  readEpisodeId,
  readEpisodeStep,
  tooManyEpisodes,
} from './episode-steps.ts'
export { mcpInstructions, mcpResult, standardSchema, withArguments } from './mcp-messages.ts'
export {
  askedOf,
  type McpAgent,
  type McpTool,
  type McpVerb,
  mcpDecision,
  mcpFailure,
  mcpToolName,
  mcpTools,
  readMcpArguments,
} from './mcp-tools.ts'
export { openAiErrorBody } from './openai-errors.ts'
export {
  inputHistory,
  inputText,
  offerOfResponse,
  responseEvents,
  responseObservation,
  responseOf,
} from './responses.ts'
export { legalWords, type Offer, toolNames } from './tools.ts'
export {
  type Autoreset,
  autoresetSchema,
  type ErrorFrame,
  errorFrameSchema,
  fieldsOf,
  type OpenedFrame,
  type OpenFrame,
  type OpenRequest,
  openedFrameSchema,
  openFrameSchema,
  type RenderFrame,
  VECTOR_PATH,
  VECTOR_PROTOCOL,
  type VectorDtype,
  type VectorField,
  type VectorLayout,
  vectorAnswerSchema,
  vectorLimits,
  vectorRequestSchema,
} from './vector.ts'
export {
  countEnded,
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeReset,
  encodeStep,
  type FieldValues,
  type ResetRequest,
  type StepRequest,
  type VectorReply,
} from './vector-frames.ts'
