import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import {
  type AgentServerOptions,
  agentServer,
  type LanguageModelOptions,
  type Listening,
  listenAgents,
  type ServedChoice,
} from '@agentgym/agent/server'
import { describeScenario } from '@agentgym/scenario/engine'
import {
  type Asked,
  type LanguageModelServer,
  type Script,
  scriptedTokens,
  startLanguageModel,
} from '@agentgym/testkit/language-model'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import support from '../../plugins/customer-support/src/index.ts'
import returns from '../../plugins/returns-desk/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-together-'))
const agents: Record<'support' | 'returns', Agent> = Object.create(null)
const choices: ServedChoice[] = []
const open: Listening[] = []
let model: LanguageModelServer
let script: (asked: Asked) => Script

beforeAll(async () => {
  for (const [name, definition] of Object.entries({ support, returns }))
    agents[name as 'support'] = await loadAgent(
      writeRandomAgent(join(home, name), name, describeScenario(definition)).folder,
    )
  model = await startLanguageModel((asked) => script(asked))
})
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
  choices.length = 0
  model.asked.length = 0
})
afterAll(async () => {
  await model.close()
  rmSync(home, { recursive: true })
})

const ticket = { ticket: 'I was charged twice', found: [0, 0, 0, 0, 0], done: [0, 0, 0, 0, 0, 0], calls: [0] }
const desk = {
  message: 'the kettle broke',
  damage: [0.4],
  orders: [{ id: 'A-17', features: Array(features()).fill(0.5) }],
}
const words = () => agents.support.labels ?? []
const picked = () => agents.support.act(ticket).label ?? ''

/** Numbers of an order. */
function features(): number {
  const { observation } = describeScenario(returns)
  const orders = observation.type === 'dict' && observation.entries.find(({ name }) => name === 'orders')?.space
  return orders && orders.type === 'list' ? orders.features : 0
}

type Way = { route: 'chat' | 'responses'; stream: boolean }
const ways: Way[] = [
  { route: 'chat', stream: false },
  { route: 'chat', stream: true },
  { route: 'responses', stream: false },
  { route: 'responses', stream: true },
]
const everyWay = ways.map((way) => [`${way.route}, ${way.stream ? 'streamed' : 'whole'}`, way] as const)

type Message = { user: unknown } | { call: string; given?: string; result: unknown }
type Request = {
  agent?: 'support' | 'returns'
  tools?: string[]
  require?: string[]
  choice?: string
  messages?: Message[]
}
type Answer = {
  text: string
  calls: { name: string; arguments: unknown }[]
  end: string | null
  usage: object
  model: string
}

async function serve(options: Omit<AgentServerOptions, 'languageModel'> = {}, to: Partial<LanguageModelOptions> = {}) {
  const served = Object.entries(agents).map(([name, agent]) => ({ name, version: null, agent }))
  const languageModel = { baseUrl: model.url, model: 'scripted-1', key: 'llm secret', ...to }
  const app = agentServer(served, { languageModel, onChoice: (choice) => choices.push(choice), ...options })
  const server = await listenAgents(app, { host: '127.0.0.1', port: 0 })
  open.push(server)
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
  return {
    url: server.url,
    ask: (way: Way, request: Request = {}) => (way.route === 'chat' ? askChat : askResponses)(client, way, request),
  }
}

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content))
const schemaOf = (required: string[] = []) => ({
  ...{ type: 'object', properties: Object.fromEntries(required.map((name) => [name, { type: 'string' }])), required },
})

async function askChat(client: OpenAI, { stream }: Way, request: Request): Promise<Answer> {
  const { agent = 'support', tools = words(), require, choice = 'auto', messages = [{ user: ticket }] } = request
  const body = {
    model: agent,
    messages: messages.flatMap((message, i): OpenAI.ChatCompletionMessageParam[] => {
      if ('user' in message) return [{ role: 'user', content: textOf(message.user) }]
      const { call: name, given = '{}', result } = message
      const tool_calls = [{ id: `c${i}`, type: 'function' as const, function: { name, arguments: given } }]
      // As it was answered, and as frameworks send it again (B31).
      const said = { role: 'assistant' as const, content: null, tool_calls }
      return [said, { role: 'tool', tool_call_id: `c${i}`, content: textOf(result) }]
    }),
    tools: tools.map((name) => ({ type: 'function' as const, function: { name, parameters: schemaOf(require) } })),
    tool_choice: choice as 'auto',
  }
  const completion = stream
    ? await client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion()
    : await client.chat.completions.create(body)
  const [{ message, finish_reason }] = completion.choices
  const calls = (message.tool_calls ?? []).map(
    (call) => (call as OpenAI.ChatCompletionMessageFunctionToolCall).function,
  )
  return {
    ...{ text: message.content ?? '', end: finish_reason, usage: completion.usage ?? {}, model: completion.model },
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) })),
  }
}

async function askResponses(client: OpenAI, { stream }: Way, request: Request): Promise<Answer> {
  const { agent = 'support', tools = words(), require, choice = 'auto', messages = [{ user: ticket }] } = request
  const body = {
    model: agent,
    input: messages.flatMap((message, i): OpenAI.Responses.ResponseInputItem[] => {
      if ('user' in message) return [{ role: 'user', content: textOf(message.user) }]
      const { call: name, given = '{}', result } = message
      const call = { type: 'function_call' as const, call_id: `c${i}`, name, arguments: given }
      return [call, { type: 'function_call_output', call_id: `c${i}`, output: textOf(result) }]
    }),
    tools: tools.map((name) => ({ type: 'function' as const, name, strict: false, parameters: schemaOf(require) })),
    tool_choice: choice as 'auto',
  }
  const response = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
  const calls = response.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
  return {
    ...{ text: response.output_text, end: response.status ?? null, usage: response.usage ?? {}, model: response.model },
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) })),
  }
}

/** What the language model was asked, in either form. */
function offeredTo({ body }: Asked) {
  return (body.tools ?? []).map((tool) => tool.name ?? tool.function?.name)
}
function forcedIn({ body: { tool_choice } }: Asked) {
  return typeof tool_choice === 'object' ? (tool_choice.name ?? tool_choice.function?.name) : tool_choice
}
const inputOf = (usage: object) => ('input_tokens' in usage ? usage.input_tokens : Object(usage).prompt_tokens)
const outputOf = (usage: object) => ('output_tokens' in usage ? usage.output_tokens : Object(usage).completion_tokens)
const tokensOfTicket = Math.ceil(JSON.stringify(ticket).length / 4)

describe.each(everyWay)('%s', (_, way) => {
  it('the policy picks the tool, and the language model is not asked', async () => {
    const { ask } = await serve()
    script = () => ({ text: 'should not be asked' })
    expect(await ask(way)).toMatchObject({ calls: [{ name: picked(), arguments: {} }], text: '', model: 'support' })
    expect(model.asked).toEqual([])
  })

  it('the language model writes text, under its own name, with its key, and counts the tokens', async () => {
    const { ask } = await serve()
    script = () => ({ text: 'The refund is on its way.' })
    const answer = await ask(way, { choice: 'none' })
    expect(answer).toMatchObject({ text: 'The refund is on its way.', calls: [], model: 'support' })
    expect(answer.end).toBe(way.route === 'chat' ? 'stop' : 'completed')
    expect(inputOf(answer.usage)).toBe(scriptedTokens.input)
    expect(model.asked).toMatchObject([{ route: way.route, body: { model: 'scripted-1' }, key: 'llm secret' }])
    expect(choices).toEqual([])
  })

  it('the language model writes the arguments that the policy does not choose, and no others', async () => {
    const { ask } = await serve()
    const decision = agents.returns.act(desk)
    const name = decision.label ?? ''
    const own = { ...decision.arguments }
    script = (asked) => ({ calls: [{ name: String(forcedIn(asked)), arguments: { note: 'hello', ...spoiled(own) } }] })
    const messages = [{ user: desk }]
    const answer = await ask(way, { agent: 'returns', tools: agents.returns.labels ?? [], require: ['note'], messages })
    expect(answer.calls).toEqual([{ name, arguments: { note: 'hello', ...own } }])
    expect(answer.end).toBe(way.route === 'chat' ? 'tool_calls' : 'completed')
    expect(model.asked.map(offeredTo)).toEqual([[name]])
    expect(model.asked.map(forcedIn)).toEqual([name])
    expect(inputOf(answer.usage)).toBe(scriptedTokens.input + Math.ceil(JSON.stringify(desk).length / 4))
    expect(outputOf(answer.usage)).toBe(scriptedTokens.output)
  })

  it('what the language model says instead of calling the tool is the answer', async () => {
    const { ask } = await serve()
    script = () => ({ text: 'Which order is it?' })
    expect(await ask(way, { require: ['note'] })).toMatchObject({ text: 'Which order is it?', calls: [] })
  })

  it('below the threshold the language model picks among all tools, and both choices are reported', async () => {
    const { ask } = await serve({ rules: { threshold: 1 } })
    for (const name of [picked(), words().find((word) => word !== picked()) ?? '']) {
      script = () => ({ calls: [{ name, arguments: { why: 'so' } }] })
      const answer = await ask(way)
      expect(answer.calls).toEqual([{ name, arguments: { why: 'so' } }])
      expect(inputOf(answer.usage)).toBe(scriptedTokens.input + tokensOfTicket)
      expect(offeredTo(model.asked.at(-1) as Asked)).toEqual(words())
      expect(choices.at(-1)).toMatchObject({
        ...{ reason: 'unsure', agent: 'support', observation: ticket, agree: name === picked() },
        policy: { tool: picked(), probability: expect.any(Number) },
        language_model: { model: 'scripted-1', calls: [{ name, arguments: '{"why":"so"}' }] },
      })
    }
  })

  it('with tools that the policy does not know the language model decides, also on several calls at once (B32, B33)', async () => {
    const { ask } = await serve()
    const calls = ['order_pizza', words()[0]].map((name, i) => ({ name, arguments: { size: i } }))
    script = () => ({ calls })
    const answer = await ask(way, { tools: [...words(), 'order_pizza'] })
    expect(answer.calls).toEqual(calls)
    expect(answer.end).toBe(way.route === 'chat' ? 'tool_calls' : 'completed')
    expect(choices).toMatchObject([{ reason: 'unknown_tools', policy: null, agree: null }])
  })

  it('narrow leaves the likeliest tools, one of which must be called; advise leaves all', async () => {
    const likeliest = [...(agents.support.act(ticket).choices ?? [])].sort((a, b) => b.probability - a.probability)
    for (const keep of [1, 3]) {
      const { ask } = await serve({ rules: { mode: 'narrow', keep } })
      script = (asked) => ({ calls: [{ name: String(offeredTo(asked)[0]), arguments: {} }] })
      await ask(way)
      const asked = model.asked.at(-1) as Asked
      expect(new Set(offeredTo(asked))).toEqual(new Set(likeliest.slice(0, keep).map(({ label }) => label)))
      expect(forcedIn(asked)).toBe(keep === 1 ? picked() : 'auto')
      expect(choices.at(-1)?.reason).toBe('narrow')
    }
    const { ask } = await serve({ rules: { mode: 'advise' } })
    await ask(way)
    expect(offeredTo(model.asked.at(-1) as Asked)).toEqual(words())
    expect(choices.at(-1)).toMatchObject({ reason: 'advise', agree: words()[0] === picked() })
  })

  it('stops after a tool that ends the work, after the most calls, and where a result is no observation', async () => {
    const { ask } = await serve({ rules: { doneAfter: ['close_ticket'], maxCalls: 3 } })
    script = () => ({ text: 'Done.' })
    const having = (...calls: string[]): Message[] => [
      { user: ticket },
      ...calls.map((call) => ({ call, result: ticket, given: '' })),
    ]
    const goesOn = await ask(way, { messages: having('lookup_user', 'check_payment') })
    expect(goesOn.calls).toHaveLength(1)
    for (const messages of [having('close_ticket'), having('lookup_user', 'lookup_user', 'lookup_user')]) {
      expect(await ask(way, { messages })).toMatchObject({ text: 'Done.', calls: [] })
      expect(forcedIn(model.asked.at(-1) as Asked)).toBe('none')
      // B35: servers of language models refuse to parse the empty text.
      expect(JSON.stringify(model.asked.at(-1)?.body)).not.toContain('"arguments":""')
    }
    // The calls before the user's last message are another turn's.
    expect((await ask(way, { messages: [...having('close_ticket'), { user: ticket }] })).calls).toHaveLength(1)
    const told = await ask(way, { messages: [{ user: ticket }, { call: 'close_ticket', result: 'Closed.' }] })
    expect(told.text).toBe('Done.')
    const thanks = await ask(way, { messages: [{ user: 'Thank you!' }] })
    expect(thanks.text).toBe('Done.')
    expect(choices.at(-1)).toMatchObject({ reason: 'unreadable', policy: null })
  })

  it("passes the errors of the language model's server on", async () => {
    const { ask } = await serve()
    script = () => ({ status: 429, message: 'Too many requests today', headers: { 'retry-after': '7' } })
    const refused = await ask(way, { choice: 'none' }).catch((error) => error)
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError)
    expect(refused.message).toContain('Too many requests today')
    expect(refused).toMatchObject({ code: 'language_model_failed' })
    expect(refused.headers.get('retry-after')).toBe('7')
    script = () => ({ status: 404, message: 'no such model' })
    await expect(ask(way, { choice: 'none' })).rejects.toMatchObject({ status: 404 })
  })
})

describe('a language model that fails', () => {
  const whole: Way = { route: 'chat', stream: false }

  it('is reported where it is silent, or cannot be reached', async () => {
    script = () => ({ isSilent: true })
    const slow = await serve({}, { timeoutMs: 50 })
    for (const way of ways)
      await expect(slow.ask(way, { choice: 'none' })).rejects.toMatchObject({
        status: 504,
        code: 'language_model_timeout',
      })
    const gone = await serve({}, { baseUrl: 'http://127.0.0.1:1/v1' })
    for (const way of ways)
      await expect(gone.ask(way, { choice: 'none' })).rejects.toMatchObject({
        status: 503,
        code: 'language_model_unreachable',
      })
    // The policy needs no language model.
    expect((await gone.ask(whole)).calls).toHaveLength(1)
  })

  it('is reported in the stream that it breaks off', async () => {
    script = () => ({ text: 'The refund', breaksOff: true })
    const { ask } = await serve()
    for (const route of ['chat', 'responses'] as const)
      await expect(ask({ route, stream: true }, { choice: 'none' })).rejects.toThrow(/ended its stream/)
  })

  it('is reported where its arguments are not JSON objects', async () => {
    const { ask } = await serve()
    script = (asked) => ({ calls: [{ name: String(forcedIn(asked)), arguments: [] }] })
    await expect(ask(whole, { require: ['note'] })).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('JSON object'),
    })
  })

  it('is not left writing for a client that has gone', async () => {
    const { promise: isAsked, resolve: arrived } = Promise.withResolvers<Asked>()
    script = (asked) => {
      arrived(asked)
      return { isSilent: true }
    }
    const { url } = await serve()
    const body = JSON.stringify({ model: 'support', messages: [{ role: 'user', content: 'Hello' }] })
    const leaving = new AbortController()
    const headers = { 'content-type': 'application/json' }
    const request = fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body, signal: leaving.signal })
    const asked = await isAsked
    leaving.abort()
    await expect(request).rejects.toThrow(/abort/)
    await asked.isOver
  })

  it('is counted', async () => {
    const { ask, url } = await serve()
    script = () => ({ text: 'Hello' })
    await ask(whole, { choice: 'none' })
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toMatch(/agent_language_model_requests_total\{model="support",reason="text"\} 1/)
  })
})

it('a forced tool is called by the policy, or by the language model where the policy does not know it', async () => {
  const { ask } = await serve()
  script = (asked) => ({ calls: [{ name: String(forcedIn(asked)), arguments: {} }] })
  const forced = (name: string) => ({ type: 'function', function: { name } }) as unknown as string
  const other = words().find((word) => word !== picked()) ?? ''
  const chat: Way = { route: 'chat', stream: false }
  expect((await ask(chat, { choice: forced(other) })).calls).toEqual([{ name: other, arguments: {} }])
  expect(model.asked).toEqual([])
  const tools = [...words(), 'order_pizza']
  expect((await ask(chat, { choice: forced('order_pizza'), tools })).calls[0].name).toBe('order_pizza')
  expect(forcedIn(model.asked[0])).toBe('order_pizza')
})

it('an address that is none is refused', () => {
  const at = (baseUrl: string) => () => agentServer([], { languageModel: { baseUrl, model: 'm' } })
  expect(at('localhost:11434')).toThrow(/--llm-base-url/)
  expect(at('http://ann:secret@127.0.0.1/v1')).toThrow(/AGENTGYM_LLM_KEY/)
})

/** Other values for the same arguments, as a language model might write them. */
function spoiled(given: object): object {
  return Object.fromEntries(Object.keys(given).map((name) => [name, 'spoiled']))
}
