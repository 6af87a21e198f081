import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a scripted language model says: a text, calls of tools, both, or an error. */
export type Script = {
  text?: string
  calls?: { name: string; arguments: object }[]
  /** Refused with this status; `message` as OpenAI words it. */
  status?: number
  message?: string
  headers?: Record<string, string>
  /** Says nothing, until the client goes. */
  isSilent?: boolean
  /** Streams: breaks off after the first event. */
  breaksOff?: boolean
}

/** A request as it arrived. */
export type Asked = {
  route: 'chat' | 'responses'
  body: RequestBody
  key: string | undefined
  /** Resolves once it is answered, or the client has gone. */
  isOver: Promise<void>
}

export type RequestBody = {
  model: string
  stream?: boolean
  messages?: { role: string; content?: unknown; tool_calls?: unknown[] }[]
  input?: unknown
  tools?: { name?: string; function?: { name: string } }[]
  tool_choice?: 'auto' | 'none' | 'required' | { name?: string; function?: { name: string } }
  [field: string]: unknown
}

export type LanguageModelServer = { url: string; asked: Asked[]; close(): Promise<void> }

/** Tokens that every answer of the scripted language model claims. */
export const scriptedTokens = { input: 100, output: 10 }

/**
 * A server that speaks chat completions and responses, streamed or not, and says what `script` decides upon each request. A
 * scripted language model in place of a real one: the same request always has the same answer.
 */
export async function startLanguageModel(script: (asked: Asked) => Script): Promise<LanguageModelServer> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const route = /\/chat\/completions$/.test(request.url ?? '')
      ? 'chat'
      : /\/responses$/.test(request.url ?? '')
        ? 'responses'
        : null
    if (route === null) return refuse(response, { status: 404, message: `no route ${request.url}` })
    const key = request.headers.authorization?.replace('Bearer ', '')
    const isOver = new Promise<void>((resolve) => response.once('close', resolve))
    const one: Asked = { route, body: JSON.parse(await bodyOf(request)), key, isOver }
    asked.push(one)
    const said = script(one)
    if (said.isSilent) return
    if (said.status !== undefined) return refuse(response, said)
    const { answer, events } = route === 'chat' ? chat(one.body, said) : responses(one.body, said)
    if (one.body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (said.breaksOff) return response.end(events[0])
    for (const event of events) response.write(event)
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Calls a tool that it must call, with no arguments; else answers. */
export function obedient({ body }: Asked): Script {
  const { tool_choice: choice } = body
  const name = typeof choice === 'object' ? (choice.name ?? choice.function?.name) : undefined
  return name === undefined ? { text: 'Done.' } : { calls: [{ name, arguments: {} }] }
}

function refuse(response: ServerResponse, { status = 500, message = 'refused', headers = {} }: Script): void {
  const error = { message, type: 'scripted', param: null, code: 'scripted_refusal' }
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  return body
}

function chat({ model, stream_options }: RequestBody, { text, calls = [] }: Script) {
  const id = 'chatcmpl-scripted'
  const tool_calls = calls.map(({ name, arguments: given }, i) => ({
    ...{ id: `call_scripted_${i}`, type: 'function', function: { name, arguments: JSON.stringify(given) } },
  }))
  const message = { role: 'assistant', content: text ?? null, ...(calls.length > 0 && { tool_calls }) }
  const usage = {
    prompt_tokens: scriptedTokens.input,
    completion_tokens: scriptedTokens.output,
    total_tokens: scriptedTokens.input + scriptedTokens.output,
  }
  // As some servers do, also where a tool was called.
  const finish_reason = 'stop'
  const answer = {
    ...{ id, object: 'chat.completion', created: 0, model, usage },
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
  }
  const chunk = (delta: object | null, reason: string | null, more = {}) => ({
    ...{ id, object: 'chat.completion.chunk', created: 0, model, ...more },
    choices: delta === null ? [] : [{ index: 0, delta, finish_reason: reason }],
  })
  const chunks = [
    chunk({ role: 'assistant', content: text === undefined ? null : '' }, null),
    ...(text === undefined ? [] : [...text].map((letter) => chunk({ content: letter }, null))),
    // The name first and then the arguments in two pieces, as servers stream them.
    ...tool_calls.flatMap(({ function: { name, arguments: given }, ...call }, index) => [
      chunk({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }, null),
      chunk({ tool_calls: [{ index, function: { arguments: given.slice(0, 1) } }] }, null),
      chunk({ tool_calls: [{ index, function: { arguments: given.slice(1) } }] }, null),
    ]),
    chunk({}, finish_reason),
    ...(Object(stream_options).include_usage === true ? [chunk(null, null, { usage })] : []),
  ]
  return { answer, events: [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'] }
}

function responses({ model }: RequestBody, { text, calls = [] }: Script) {
  const output = [
    ...(text === undefined
      ? []
      : [
          {
            ...{ type: 'message', id: 'msg_scripted', role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ name, arguments: given }, i) => ({
      ...{ type: 'function_call', id: `fc_scripted_${i}`, call_id: `call_scripted_${i}`, status: 'completed' },
      ...{ name, arguments: JSON.stringify(given) },
    })),
  ]
  const usage = {
    ...{ input_tokens: scriptedTokens.input, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
    ...{ output_tokens: scriptedTokens.output, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: scriptedTokens.input + scriptedTokens.output,
  }
  const answer = {
    ...{
      id: 'resp_scripted',
      object: 'response',
      created_at: 0,
      status: 'completed',
      error: null,
      model,
      output,
      usage,
    },
    ...{
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: 'auto',
      tools: [],
    },
    ...{ top_p: null, incomplete_details: null },
  }
  const begun = { ...answer, status: 'in_progress', output: [], usage: null }
  const parts: [type: string, fields: object][] = [['response.created', { response: begun }]]
  for (const [output_index, item] of output.entries()) {
    const place = { output_index, item_id: item.id }
    if ('arguments' in item) {
      parts.push(
        ['response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } }],
        ['response.function_call_arguments.delta', { ...place, delta: item.arguments }],
        ['response.function_call_arguments.done', { ...place, name: item.name, arguments: item.arguments }],
      )
    } else if ('content' in item) {
      const within = { ...place, content_index: 0 }
      parts.push(
        ['response.output_item.added', { output_index, item: { ...item, content: [], status: 'in_progress' } }],
        ['response.content_part.added', { ...within, part: { ...item.content[0], text: '' } }],
        ['response.output_text.delta', { ...within, delta: text, logprobs: [] }],
        ['response.output_text.done', { ...within, text, logprobs: [] }],
        ['response.content_part.done', { ...within, part: item.content[0] }],
      )
    }
    parts.push(['response.output_item.done', { output_index, item }])
  }
  parts.push(['response.completed', { response: answer }])
  const events = parts.map(([type, fields], sequence_number) => ({ type, sequence_number, ...fields }))
  return { answer, events: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`) }
}
