/** How clients of language models ask an agent, and how its answer is worded for them. Pure functions. */
export {
  type AgentAnswer,
  type AskedAgent,
  maskOfWords,
  observationOf,
  requestInvalid,
  wordsOf,
} from './asked-agent.ts'
export { chatChunks, chatCompletion, observedText, offerOfChat } from './chat-completions.ts'
export {
  type Chosen,
  chosen,
  decisionOf,
  decisionRequestSchema,
  type Question,
  questionCalls,
  readDecision,
  readSystemOne,
  systemOneOf,
  systemOneRequestSchema,
} from './decisions.ts'
export { openAiErrorBody } from './openai-errors.ts'
export { offerOfResponse, responseEvents, responseObservation, responseOf } from './responses.ts'
export { legalWords, type Offer, toolNames } from './tools.ts'
