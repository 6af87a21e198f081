import type { ChatRequest } from '@agentgym/contract'
import { chatHistory, observationOf, observedText, offerOfChat, type TokenUsage } from '@agentgym/contract/protocols'
import { z } from 'zod'
import type { Dialect, Heard, Listener, Signature } from './dialect.ts'
import { failed } from './language-model.ts'

const usageSchema = z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() })
const callSchema = z.looseObject({
  index: z.number().optional(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).optional(),
})
const callsSchema = z.looseObject({ tool_calls: z.array(callSchema).nullish() })
const completionSchema = z.looseObject({
  choices: z.array(z.looseObject({ message: callsSchema, finish_reason: z.string().nullish() })).min(1),
  usage: usageSchema.nullish(),
})
const chunkSchema = z.looseObject({
  choices: z.array(z.looseObject({ delta: callsSchema.nullish(), finish_reason: z.string().nullish() })),
  usage: usageSchema.nullish(),
})

/** Chat completions. */
export const chatDialect: Dialect<ChatRequest> = {
  name: 'chat',
  path: '/chat/completions',
  offerOf: offerOfChat,
  callsOf({ messages }) {
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    return turn.flatMap(({ tool_calls }) => (callsSchema.safeParse({ tool_calls }).data?.tool_calls ?? []).map(nameOf))
  },
  parametersOf: ({ tools }, tool) => tools?.find((each) => each.function?.name === tool)?.function?.parameters,
  textOf: observedText,
  observationOf: (request, spaces) => observationOf(observedText(request), spaces.observation, 'messages'),
  historyOf: chatHistory,
  forModel(request, model, tools) {
    const messages = request.messages.map(withJsonArguments)
    const body = { ...request, model, messages, ...(request.stream && { stream_options: { include_usage: true } }) }
    if (tools === 'all') return body
    if (tools === 'none') return { ...body, ...(body.tools?.length && { tool_choice: 'none' }) }
    const kept = request.tools?.filter((tool) => tools.includes(tool.function?.name ?? ''))
    if (tools.length > 1) return { ...body, tools: kept }
    const tool_choice = { type: 'function', function: { name: tools[0] } }
    return { ...body, tools: kept, tool_choice, parallel_tool_calls: false }
  },
  hear(answer) {
    const { choices, usage } = readAnswer(answer)
    const calls = choices[0].message.tool_calls ?? []
    return { calls: calls.map(readCall), usage: tokensOf(usage) }
  },
  sign(answer, { model, also }) {
    const read = readAnswer(answer)
    const choices = read.choices.map((choice) => ({
      ...choice,
      finish_reason: reasonOf(choice.finish_reason, (choice.message.tool_calls ?? []).length > 0),
    }))
    return { ...read, model, choices, usage: withUsage(read.usage, also) }
  },
  listener,
  write: (event) => `data: ${JSON.stringify(event)}\n\n`,
  ending: 'data: [DONE]\n\n',
  failure: (report) => ({ error: { ...report, type: 'server_error', param: null } }),
}

function listener({ stream_options }: ChatRequest, { model, also }: Signature): Listener {
  const calls: Heard['calls'] = []
  let usage: TokenUsage = { input: 0, output: 0 }
  let complete = false
  return {
    pass(event) {
      const chunk = chunkSchema.safeParse(event)
      if (!chunk.success) throw unusable('a chunk of a chat completion')
      const { data } = chunk
      if (data.usage) usage = tokensOf(data.usage)
      const choices = data.choices.map((choice) => {
        for (const [place, call] of (choice.delta?.tool_calls ?? []).entries()) {
          const { name, arguments: given } = readCall(call)
          const at = call.index ?? place
          calls[at] = { name: (calls[at]?.name ?? '') + name, arguments: (calls[at]?.arguments ?? '') + given }
        }
        complete ||= typeof choice.finish_reason === 'string'
        return { ...choice, finish_reason: choice.finish_reason && reasonOf(choice.finish_reason, calls.length > 0) }
      })
      if (choices.length === 0 && stream_options?.include_usage !== true) return null
      return { ...data, model, choices, ...(data.usage && { usage: withUsage(data.usage, also) }) }
    },
    heard: () => ({ calls: calls.filter(Boolean), usage }),
    isComplete: () => complete,
  }
}

/** Some servers say `stop` where a tool was forced. */
function reasonOf(reason: string | null | undefined, isCall: boolean): string {
  return isCall && (reason ?? 'stop') === 'stop' ? 'tool_calls' : (reason ?? 'stop')
}

/** A tool without arguments may have been written as the empty text, which servers refuse to parse. */
function withJsonArguments(message: ChatRequest['messages'][number]): ChatRequest['messages'][number] {
  const { tool_calls } = message
  if (!Array.isArray(tool_calls)) return message
  const calls = tool_calls.map((call) =>
    call?.function?.arguments === '' ? { ...call, function: { ...call.function, arguments: '{}' } } : call,
  )
  return { ...message, tool_calls: calls }
}

function readAnswer(answer: unknown): z.infer<typeof completionSchema> {
  const read = completionSchema.safeParse(answer)
  if (read.success) return read.data
  throw unusable('a chat completion')
}

function unusable(what: string) {
  return failed(502, `answered something that is not ${what}`)
}

function readCall(call: z.infer<typeof callSchema>): Heard['calls'][number] {
  return { name: nameOf(call), arguments: call.function?.arguments ?? '' }
}

function nameOf(call: z.infer<typeof callSchema>): string {
  return call.function?.name ?? ''
}

function tokensOf(usage: z.infer<typeof usageSchema> | null | undefined): TokenUsage {
  return { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 }
}

function withUsage(usage: z.infer<typeof usageSchema> | null | undefined, also: TokenUsage) {
  const { input, output } = tokensOf(usage)
  const [prompt_tokens, completion_tokens] = [input + also.input, output + also.output]
  return { ...usage, prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}
