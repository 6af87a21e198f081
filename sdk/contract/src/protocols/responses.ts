import type { Input, ResponseRequest } from '../api/hosting.ts'
import {
  type AgentAnswer,
  type AskedAgent,
  earlierObservations,
  type Moment,
  observationOf,
  requestInvalid,
  type TokenUsage,
  textOf,
  tokensIn,
} from './asked-agent.ts'
import { type Offer, readToolChoice, toolCallOf } from './tools.ts'

/** The text of the last user message or result of a tool. Throws `request_invalid`, `request_too_large`. */
export function inputText(input: Input): string {
  if (typeof input === 'string') return textOf(input, 'input')
  const last = input.findLast(({ type, role }) => role === 'user' || type?.endsWith('_call_output'))
  return textOf(last?.type?.endsWith('_call_output') ? last.output : last?.content, 'input')
}

/** What an agent with memory observed before in this input. Throws `request_invalid`. */
export function inputHistory(input: Input, { observation }: Pick<AskedAgent, 'observation'>) {
  const items = typeof input === 'string' ? [] : input
  const moments = items.map(({ type, role, content, output }): Moment => {
    if (type?.endsWith('_call_output')) return { observed: output }
    if (role === 'user') return { observed: content }
    return role === 'assistant' || type === 'function_call' ? 'answered' : 'other'
  })
  return earlierObservations(moments, observation, 'input')
}

/** What the request shows the agent. Nothing is stored, so it must be there. */
export function responseObservation(
  request: ResponseRequest,
  { observation }: Pick<AskedAgent, 'observation'>,
): AgentAnswer['action'] {
  if (request.previous_response_id) {
    throw requestInvalid('previous_response_id', 'responses are not stored; send the whole input')
  }
  return observationOf(inputText(request.input), observation, 'input')
}

export function offerOfResponse({ tools, tool_choice }: ResponseRequest): Offer {
  return {
    tools: tools?.flatMap(({ type, name }) => (type === 'function' && name !== undefined ? [name] : [])) ?? [],
    choice: readToolChoice(tool_choice),
  }
}

type Answered = {
  request: ResponseRequest
  id: string
  model: string
  answer: AgentAnswer
  agent: AskedAgent
  now: Date
  /** What a language model used, that has written the arguments. */
  also?: TokenUsage
}

/** The agent's answer as a response: a function call if it is one of the tools, else a message with the action as JSON. */
export function responseOf(parts: Answered) {
  const { request, id, model, answer, agent, now, also } = parts
  const call = toolCallOf(offerOfResponse(request), answer, agent.action)
  const text = JSON.stringify({ action: answer.action, label: answer.label })
  const limit = (request.max_output_tokens ?? Number.POSITIVE_INFINITY) * 4
  const cut = call === undefined && text.length > limit
  const said = text.slice(0, limit)
  const status = cut ? ('incomplete' as const) : ('completed' as const)
  const item =
    call === undefined
      ? {
          type: 'message' as const,
          id: `msg_${id}`,
          role: 'assistant' as const,
          status,
          content: [{ type: 'output_text' as const, text: said, annotations: [] as never[] }],
        }
      : { type: 'function_call' as const, id: `fc_${id}`, call_id: `call_${id}`, ...call, status }
  const input = tokensIn(inputText(request.input)) + (also?.input ?? 0)
  const output = also?.output ?? tokensIn(call?.arguments ?? said)
  return {
    id: `resp_${id}`,
    object: 'response' as const,
    created_at: Math.floor(now.getTime() / 1_000),
    status,
    error: null,
    incomplete_details: cut ? { reason: 'max_output_tokens' as const } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model,
    output: [item],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    store: false,
    temperature: null,
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: null,
    truncation: 'disabled' as const,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

/** The same as server-sent events, the whole text or arguments in one delta. */
export function responseEvents(response: ReturnType<typeof responseOf>): string {
  const [item] = response.output
  const begun = { ...response, status: 'in_progress' as const, output: [], usage: null }
  const place = { output_index: 0, item_id: item.id }
  const parts: [type: string, fields: object][] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
  ]
  if (item.type === 'function_call') {
    const { arguments: given } = item
    parts.push(
      ['response.output_item.added', { output_index: 0, item: { ...item, arguments: '', status: 'in_progress' } }],
      ['response.function_call_arguments.delta', { ...place, delta: given }],
      ['response.function_call_arguments.done', { ...place, name: item.name, arguments: given }],
    )
  } else {
    const [part] = item.content
    const within = { ...place, content_index: 0 }
    parts.push(
      ['response.output_item.added', { output_index: 0, item: { ...item, content: [], status: 'in_progress' } }],
      ['response.content_part.added', { ...within, part: { ...part, text: '' } }],
      ['response.output_text.delta', { ...within, delta: part.text, logprobs: [] }],
      ['response.output_text.done', { ...within, text: part.text, logprobs: [] }],
      ['response.content_part.done', { ...within, part }],
    )
  }
  parts.push(['response.output_item.done', { output_index: 0, item }], [`response.${response.status}`, { response }])
  return parts
    .map(([type, fields], sequence_number) => ({ type, sequence_number, ...fields }))
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')
}
