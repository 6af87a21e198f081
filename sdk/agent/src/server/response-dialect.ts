import type { ResponseRequest } from '@agentgym/contract'
import {
  inputHistory,
  inputText,
  offerOfResponse,
  responseObservation,
  type TokenUsage,
} from '@agentgym/contract/protocols'
import { z } from 'zod'
import type { Dialect, Heard, Listener, Signature } from './dialect.ts'
import { failed } from './language-model.ts'

const itemSchema = z.looseObject({ type: z.string(), name: z.string().optional(), arguments: z.string().optional() })
const usageSchema = z.looseObject({ input_tokens: z.number(), output_tokens: z.number() })
const responseSchema = z.looseObject({ output: z.array(itemSchema), usage: usageSchema.nullish() })
const eventSchema = z.looseObject({ type: z.string(), response: responseSchema.optional() })

/** OpenAI's Responses API. */
export const responseDialect: Dialect<ResponseRequest> = {
  name: 'responses',
  path: '/responses',
  offerOf: offerOfResponse,
  callsOf({ input }) {
    if (typeof input === 'string') return []
    const turn = input.slice(input.findLastIndex(({ role }) => role === 'user') + 1)
    return callsIn(turn.map((item) => ({ ...item, type: item.type ?? 'message' }))).map(({ name }) => name)
  },
  parametersOf: ({ tools }, tool) => tools?.find(({ name }) => name === tool)?.parameters,
  textOf: ({ input }) => inputText(input),
  observationOf: responseObservation,
  historyOf: ({ input }, spaces) => inputHistory(input, spaces),
  forModel(request, model, tools) {
    const input = typeof request.input === 'string' ? request.input : request.input.map(withJsonArguments)
    // As our own responses: nothing is stored.
    const body = { ...request, model, input, store: false }
    if (tools === 'all') return body
    if (tools === 'none') return { ...body, ...(body.tools?.length && { tool_choice: 'none' }) }
    const kept = request.tools?.filter(({ name }) => tools.includes(name ?? ''))
    if (tools.length > 1) return { ...body, tools: kept }
    return { ...body, tools: kept, tool_choice: { type: 'function', name: tools[0] }, parallel_tool_calls: false }
  },
  hear(answer) {
    const { output, usage } = readAnswer(answer)
    return { calls: callsIn(output), usage: tokensOf(usage) }
  },
  sign: (answer, signature) => signed(readAnswer(answer), signature),
  listener,
  write: (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  ending: '',
  failure: (report) => ({ type: 'error', ...report, param: null, sequence_number: 0 }),
}

function listener(_: ResponseRequest, signature: Signature): Listener {
  let last: z.infer<typeof responseSchema> | undefined
  let complete = false
  return {
    pass(event) {
      const read = eventSchema.safeParse(event)
      if (!read.success) throw unusable('an event of a response')
      const { response } = read.data
      if (response === undefined) return read.data
      last = response
      complete ||= ['response.completed', 'response.incomplete', 'response.failed'].includes(read.data.type)
      return { ...read.data, response: signed(response, signature) }
    },
    heard: () => ({ calls: callsIn(last?.output ?? []), usage: tokensOf(last?.usage) }),
    isComplete: () => complete,
  }
}

function signed(response: z.infer<typeof responseSchema>, { model, also }: Signature) {
  const { usage } = response
  if (!usage) return { ...response, model }
  const [input_tokens, output_tokens] = [usage.input_tokens + also.input, usage.output_tokens + also.output]
  return {
    ...response,
    model,
    usage: { ...usage, input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  }
}

/** A tool without arguments may have been written as the empty text, which servers refuse to parse. */
function withJsonArguments<Item extends Record<string, unknown>>(item: Item): Item {
  return item.type === 'function_call' && item.arguments === '' ? { ...item, arguments: '{}' } : item
}

function callsIn(items: readonly z.infer<typeof itemSchema>[]): Heard['calls'] {
  return items.flatMap(({ type, name = '', arguments: given = '' }) =>
    type === 'function_call' ? [{ name, arguments: given }] : [],
  )
}

function readAnswer(answer: unknown): z.infer<typeof responseSchema> {
  const read = responseSchema.safeParse(answer)
  if (read.success) return read.data
  throw unusable('a response')
}

function unusable(what: string) {
  return failed(502, `answered something that is not ${what}`)
}

function tokensOf(usage: z.infer<typeof usageSchema> | null | undefined): TokenUsage {
  return { input: usage?.input_tokens ?? 0, output: usage?.output_tokens ?? 0 }
}
