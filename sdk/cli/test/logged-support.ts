/** Traces of a support agent that takes detours, in every format that `scenario from-traces` reads. */
import { createRng, type Rng } from '@agentgym/scenario'

export type SupportCall = { name: string; arguments: Record<string, unknown>; result: string; failed: boolean }
export type SupportEpisode = {
  id: string
  request: string
  calls: SupportCall[]
  solved: boolean
  probabilities: number[]
}

const openings = ['', 'Hi, ', 'Hello, ', 'Good morning, ', 'Dear team, ', 'Hey, ']
const matters = [
  { texts: ['my parcel came late', 'the delivery was far too late'], tool: 'refund', reason: 'late' },
  { texts: ['the lamp arrived broken', 'my order is broken'], tool: 'refund', reason: 'broken' },
  { texts: ['I want to talk to a person', 'please let me speak to somebody'], tool: 'escalate', reason: null },
  { texts: ['where is my order', 'when will my parcel arrive'], tool: null, reason: null },
]
const endings = [
  '',
  ', thanks',
  ', please help',
  ', this is urgent',
  ', for the second time',
  ' since Monday',
  ' and I am not happy',
]

/** Picks a tool, given the request and what was called for it; null: as the logged policy does. */
export type SupportPolicy = (request: string, calls: readonly SupportCall[]) => string

/**
 * Episodes of a policy that does the right thing in three of four steps, and something else in the others; or of the given one, which
 * is stopped after 20 calls.
 */
export function supportEpisodes(count: number, seed = 1, policy: SupportPolicy | null = null): SupportEpisode[] {
  const rng = createRng(seed)
  return Array.from({ length: count }, (_, number) => episode(number, rng, policy))
}

const tools = ['search_orders', 'refund', 'escalate', 'answer'] as const

function episode(number: number, rng: Rng, policy: SupportPolicy | null): SupportEpisode {
  const matter = rng.pick(matters)
  const customer = number % 50
  const text = `${rng.pick(openings)}${rng.pick(matter.texts)}${rng.pick(endings)}`
  const request = `${text}. I am customer${customer}@example.com`
  const needs = ['search_orders', ...(matter.tool === null ? [] : [matter.tool])]
  // One customer in ten is not helped by anything.
  const satisfied = rng() < 0.9
  const calls: SupportCall[] = []
  const probabilities: number[] = []
  while (calls.length < 20) {
    const right = needs[0] ?? 'answer'
    const logged = rng() < 0.76 ? right : rng.pick(tools.filter((name) => name !== right))
    const tool = policy === null ? logged : policy(request, calls)
    probabilities.push(tool === right ? 0.76 : 0.08)
    if (tool === 'answer') break
    const failed = tool === 'search_orders' && rng() < 0.1
    if (tool === right && !failed) needs.shift()
    const reason = matter.reason ?? rng.pick(['late', 'broken'])
    const args =
      tool === 'refund'
        ? { reason, note: text }
        : tool === 'escalate'
          ? {}
          : { email: `customer${customer}@example.com` }
    calls.push({ name: tool, arguments: args, result: failed ? 'timeout' : `${tool} done`, failed })
  }
  return { id: `trace-${seededId(number)}`, request, calls, solved: needs.length === 0 && satisfied, probabilities }
}

function seededId(number: number): string {
  return number.toString(16).padStart(8, '0')
}

export type SupportFormat = 'messages' | 'opentelemetry' | 'langsmith' | 'langfuse'

export const supportFormats = {
  messages: messagesLines,
  opentelemetry: spanLines,
  langsmith: runLines,
  langfuse: observationLines,
} satisfies { [Format in SupportFormat]: (episodes: readonly SupportEpisode[]) => string }

const json = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

function messagesLines(episodes: readonly SupportEpisode[]): string {
  return json(
    episodes.map(({ id, request, calls, solved, probabilities }) => ({
      id,
      solved,
      messages: [
        { role: 'system', content: 'You are a support agent.' },
        { role: 'user', content: request },
        ...calls.flatMap(({ name, arguments: args, result, failed }, place) => [
          {
            role: 'assistant',
            content: null,
            usage: { total_tokens: 100 },
            latency: 0.5,
            probability: probabilities[place],
            tool_calls: [{ id: `c${place}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
          },
          { role: 'tool', tool_call_id: `c${place}`, content: result, ...(failed ? { status: 'error' } : {}) },
        ]),
        {
          role: 'assistant',
          content: 'Done.',
          usage: { total_tokens: 60 },
          latency: 1,
          probability: probabilities.at(-1),
        },
      ],
    })),
  )
}

type Attribute = { key: string; value: object }
const attribute = (key: string, value: string | number): Attribute => ({
  key,
  value:
    typeof value === 'string'
      ? { stringValue: value }
      : Number.isInteger(value)
        ? { intValue: `${value}` }
        : { doubleValue: value },
})

/** As the collector's file exporter writes: an export a line, and the spans of a trace spread over several. */
function spanLines(episodes: readonly SupportEpisode[]): string {
  const spans = episodes.flatMap(({ id, request, calls, solved, probabilities }) => {
    const start = (step: number) => `${1_760_000_000_000_000_000n + BigInt(step) * 1_000_000_000n}`
    const span = (step: number, seconds: number, attributes: Attribute[], more: object = {}) => ({
      traceId: id,
      spanId: `${id}-${step}`,
      startTimeUnixNano: start(step),
      endTimeUnixNano: `${BigInt(start(step)) + BigInt(seconds * 1e9)}`,
      attributes,
      ...more,
    })
    const input = attribute(
      'gen_ai.input.messages',
      JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: request }] }]),
    )
    const chat = (step: number, tokens: number, output: object) =>
      span(step, 1, [
        attribute('gen_ai.operation.name', 'chat'),
        input,
        attribute('gen_ai.usage.input_tokens', tokens - 20),
        attribute('gen_ai.usage.output_tokens', 20),
        attribute('gen_ai.output.messages', JSON.stringify([output])),
        attribute('agentgym.probability', probabilities[Math.floor(step / 2)]),
      ])
    const score = {
      name: 'gen_ai.evaluation.result',
      attributes: [
        attribute('gen_ai.evaluation.name', 'solved'),
        attribute('gen_ai.evaluation.score.value', solved ? 1 : 0),
      ],
    }
    return [
      span(0, 9, [attribute('gen_ai.operation.name', 'invoke_agent'), input], { events: [score] }),
      ...calls.flatMap(({ name, arguments: args, result, failed }, place) => [
        chat(2 * place, 100, {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: `c${place}`, name, arguments: args }],
        }),
        span(2 * place + 1, 0.5, [
          attribute('gen_ai.operation.name', 'execute_tool'),
          attribute('gen_ai.tool.name', name),
          attribute('gen_ai.tool.call.id', `c${place}`),
          attribute('gen_ai.tool.call.arguments', JSON.stringify(args)),
          attribute('gen_ai.tool.call.result', result),
          ...(failed ? [attribute('error.type', 'timeout')] : []),
        ]),
      ]),
      chat(2 * calls.length, 60, { role: 'assistant', parts: [{ type: 'text', content: 'Done.' }] }),
    ]
  })
  const exports: unknown[] = []
  for (let from = 0; from < spans.length; from += 7)
    exports.push({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: spans.slice(from, from + 7) }] }] })
  return json(exports)
}

const time = (step: number) => new Date(1_760_000_000_000 + step * 500).toISOString()

/** A page of LangSmith's API, with LangChain's messages as it serializes them. */
function runLines(episodes: readonly SupportEpisode[]): string {
  const human = (content: string) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content },
  })
  const ai = (kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'AIMessage'],
    kwargs,
  })
  const runs = episodes.flatMap(({ id, request, calls, solved, probabilities }) => {
    const llm = (step: number, tokens: number, message: object) => ({
      ...{ id: `${id}-${step}`, trace_id: id, parent_run_id: id, name: 'ChatOpenAI', run_type: 'llm' },
      ...{ start_time: time(step), end_time: time(step + 1), total_tokens: tokens },
      inputs: { messages: [[human(request)]] },
      outputs: { generations: [[{ text: '', message }]] },
      extra: { metadata: { 'agentgym.probability': probabilities[Math.floor(step / 2)] } },
    })
    return [
      {
        ...{
          id,
          trace_id: id,
          parent_run_id: null,
          name: 'agent',
          run_type: 'chain',
          start_time: time(0),
          end_time: time(20),
        },
        ...{
          inputs: { messages: [human(request)] },
          outputs: {},
          feedback_stats: { solved: { n: 1, avg: solved ? 1 : 0 } },
        },
      },
      ...calls.flatMap(({ name, arguments: args, result, failed }, place) => [
        llm(2 * place, 100, ai({ content: '', tool_calls: [{ name, args, id: `c${place}` }] })),
        {
          ...{ id: `${id}-${2 * place + 1}`, trace_id: id, parent_run_id: id, name, run_type: 'tool' },
          ...{
            start_time: time(2 * place + 1),
            end_time: time(2 * place + 2),
            inputs: { input: JSON.stringify(args) },
          },
          ...(failed ? { error: result, outputs: null } : { error: null, outputs: { output: result } }),
        },
      ]),
      llm(2 * calls.length, 60, ai({ content: 'Done.' })),
    ]
  })
  return JSON.stringify({ runs, cursors: {} }, null, 1)
}

/** Langfuse's export to blob storage: observations, then scores. */
function observationLines(episodes: readonly SupportEpisode[]): string {
  const stamp = (step: number) => time(step).replace('T', ' ').replace('Z', '')
  const rows = episodes.flatMap(({ id, request, calls, probabilities }) => {
    const row = (step: number, type: string, name: string, more: object) => ({
      ...{
        id: `${id}-${step}`,
        trace_id: id,
        type,
        name,
        start_time: stamp(step),
        end_time: stamp(step + 1),
        level: 'DEFAULT',
      },
      ...more,
    })
    const generation = (step: number, tokens: number, message: object) =>
      row(step, 'GENERATION', 'chat', {
        input: JSON.stringify([{ role: 'user', content: request }]),
        output: JSON.stringify(message),
        usage_details: { input: tokens - 20, output: 20, total: tokens },
        metadata: { probability: probabilities[Math.floor(step / 2)] },
      })
    return [
      ...calls.flatMap(({ name, arguments: args, result, failed }, place) => [
        generation(2 * place, 100, {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: `c${place}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        }),
        row(2 * place + 1, 'TOOL', name, {
          ...{ input: JSON.stringify(args), output: result },
          ...(failed ? { level: 'ERROR' } : {}),
        }),
      ]),
      generation(2 * calls.length, 60, { role: 'assistant', content: 'Done.' }),
    ]
  })
  const scores = episodes.map(({ id, solved }) => ({
    ...{
      id: `${id}-score`,
      trace_id: id,
      name: 'solved',
      data_type: 'BOOLEAN',
      value: solved ? 1 : 0,
      string_value: solved ? 'True' : 'False',
    },
  }))
  return json([...rows, ...scores])
}
