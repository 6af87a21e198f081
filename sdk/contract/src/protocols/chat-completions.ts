import type { ChatCompletion, ChatRequest } from '../api/hosting.ts'
import {
  type AgentAnswer,
  type AskedAgent,
  earlierObservations,
  type Moment,
  type TokenUsage,
  textOf,
  tokensIn,
} from './asked-agent.ts'
import { type Offer, readToolChoice, toolCallOf } from './tools.ts'

/** The observation: the text of the last user or tool message. Throws `request_invalid`, `request_too_large`. */
export function observedText({ messages }: Pick<ChatRequest, 'messages'>): string {
  return textOf(messages.findLast(({ role }) => role === 'user' || role === 'tool')?.content, 'messages')
}

/** What an agent with memory observed before in this conversation. Throws `request_invalid`. */
export function chatHistory(
  { messages }: Pick<ChatRequest, 'messages'>,
  { observation }: Pick<AskedAgent, 'observation'>,
) {
  const moments = messages.map(({ role, content }): Moment => {
    if (role === 'user' || role === 'tool') return { observed: content }
    return role === 'assistant' ? 'answered' : 'other'
  })
  return earlierObservations(moments, observation, 'messages')
}

export function offerOfChat({ tools, tool_choice }: ChatRequest): Offer {
  return { tools: tools?.flatMap((tool) => tool.function?.name ?? []) ?? [], choice: readToolChoice(tool_choice) }
}

type Completion = {
  request: ChatRequest
  id: string
  model: string
  answer: AgentAnswer
  agent: Pick<AskedAgent, 'action'>
  /** The observation, as it was sent. */
  observed: string
  now: Date
  /** What a language model used, that has written the arguments. */
  also?: TokenUsage
}

/** The agent's answer as a chat completion: a tool call if the action is one of the request's tools, else JSON. */
export function chatCompletion(parts: Completion): ChatCompletion {
  const { request, id, model, answer, agent, observed, now, also } = parts
  const tool = toolCallOf(offerOfChat(request), answer, agent.action)
  const text = JSON.stringify({ action: answer.action, label: answer.label })
  const limit = (request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY) * 4
  const content = tool === undefined ? text.slice(0, limit) : null
  const cut = content !== null && content.length < text.length
  const prompt = tokensIn(observed) + (also?.input ?? 0)
  const completion = also?.output ?? tokensIn(content ?? tool?.arguments ?? '')
  const call = tool && { id: `call_${id.replaceAll('-', '')}`, type: 'function' as const, function: tool }
  return {
    id: `chatcmpl-${id}`,
    object: 'chat.completion',
    created: Math.floor(now.getTime() / 1_000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, ...(call && { tool_calls: [call] }) },
        logprobs: null,
        finish_reason: tool === undefined ? (cut ? 'length' : 'stop') : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  }
}

/** The same as server-sent events: the answer in one chunk, the end, and the usage if requested. */
export function chatChunks(completion: ChatCompletion, { stream_options }: ChatRequest): string {
  const { usage, choices, ...head } = completion
  const [{ message, finish_reason }] = choices
  const { tool_calls, ...said } = message
  const delta = { ...said, ...(tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) }) }
  const chunk = (parts: object[], more: object = {}) => ({
    ...{ ...head, object: 'chat.completion.chunk', choices: parts, ...more },
  })
  const events = [
    chunk([{ index: 0, delta, logprobs: null, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, logprobs: null, finish_reason }]),
    ...(stream_options?.include_usage === true ? [chunk([], { usage })] : []),
  ]
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`
}
