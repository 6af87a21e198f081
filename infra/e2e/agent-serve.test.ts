import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { agentServer, type Listening, listenAgents } from '@agentgym/agent/server'
import { describeScenario } from '@agentgym/scenario/engine'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import support from '../../plugins/customer-support/src/index.ts'
import returns from '../../plugins/returns-desk/src/index.ts'
import memoryMaze from '../../plugins/t-maze/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-serve-'))
const key = 'a secret of the server'
let server: Listening
let client: OpenAI
const agents: Record<'support' | 'returns' | 'maze', Agent> = Object.create(null)

beforeAll(async () => {
  for (const [name, definition] of Object.entries({ support, returns, maze: memoryMaze })) {
    const description = describeScenario(definition)
    const { folder } = writeRandomAgent(join(home, name), name, description, description.memory)
    agents[name as keyof typeof agents] = await loadAgent(folder)
  }
  const served = Object.entries(agents).map(([name, agent]) => ({ name: `@ann/${name}`, version: '1.0.0', agent }))
  server = await listenAgents(agentServer(served, { key }), { host: '127.0.0.1', port: 0 })
  client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key, maxRetries: 0 })
})
afterAll(async () => {
  await server.close()
  rmSync(home, { recursive: true })
})

const ticket = { ticket: 'I was charged twice', found: [0, 0, 0, 0, 0], done: [0, 0, 0, 0, 0, 0], calls: [0] }
const desk = {
  message: 'the kettle arrived broken',
  damage: [0.4],
  orders: [{ id: 'A-17', features: Array(agentFeatures()).fill(0.5) }],
}
const functionOf = (name: string) => ({ type: 'function' as const, function: { name, parameters: { type: 'object' } } })
const words = (agent: Agent) => agent.labels ?? []

/** Numbers of an item in the list of orders. */
function agentFeatures(): number {
  const { observation } = describeScenario(returns)
  const orders =
    observation.type === 'dict' ? observation.entries.find(({ name }) => name === 'orders')?.space : undefined
  return orders?.type === 'list' ? orders.features : 0
}

const user = (observation: unknown) => ({ role: 'user' as const, content: JSON.stringify(observation) })

describe('chat completions', () => {
  it('call the tool that the agent picks among those offered, with its arguments', async () => {
    const model = '@ann/returns@1.0.0'
    for (const name of words(agents.returns)) {
      const mask = { tool: words(agents.returns).map((word) => word === name), ...everyArgument() }
      const decision = agents.returns.act(desk, { mask })
      const { choices } = await client.chat.completions.create({
        ...{ model, messages: [user(desk)], tools: [functionOf(name)] },
      })
      const [{ message, finish_reason }] = choices
      expect(finish_reason).toBe('tool_calls')
      expect(message.content).toBeNull()
      const [call] = message.tool_calls ?? []
      expect(call).toMatchObject({ type: 'function', id: expect.stringMatching(/^call_\w+$/), function: { name } })
      expect(JSON.parse(call.type === 'function' ? call.function.arguments : '')).toEqual(decision.arguments)
    }
  })

  it('go on after the result of a tool, with the history as it was received', async () => {
    const tools = words(agents.support).map(functionOf)
    const model = '@ann/support'
    const first = await client.chat.completions.create({ model, messages: [user(ticket)], tools })
    const [{ message }] = first.choices
    const [call] = message.tool_calls ?? []
    const after = { ...ticket, calls: [0.1] }
    const result = { role: 'tool' as const, tool_call_id: call.id, content: JSON.stringify(after) }
    const second = await client.chat.completions.create({ model, messages: [user(ticket), message, result], tools })
    expect(second.choices[0].message.tool_calls?.[0]).toMatchObject({
      function: { name: agents.support.act(after).label },
    })
  })

  it('are streamed as they are answered whole, with the usage at the end', async () => {
    const tools = words(agents.returns).map(functionOf)
    const request = { model: '@ann/returns', messages: [user(desk)], tools }
    const whole = await client.chat.completions.create(request)
    const stream = await client.chat.completions.create({
      ...{ ...request, stream: true as const, stream_options: { include_usage: true } },
    })
    const chunks = await Array.fromAsync(stream)
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    expect(deltas[0]).toMatchObject({ index: 0, id: expect.any(String), type: 'function' })
    expect(deltas[0].function?.name).toBe(words(agents.returns)[words(agents.returns).indexOf(toolOf(whole))])
    expect(deltas.map((delta) => delta.function?.arguments ?? '').join('')).toBe(argumentsOf(whole))
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    expect(chunks.at(-2)?.choices[0].finish_reason).toBe('tool_calls')
  })

  it('end with stop without a call, and with length at a cap', async () => {
    const request = { model: '@ann/support', messages: [user(ticket)], tools: words(agents.support).map(functionOf) }
    const none = await client.chat.completions.create({ ...request, tool_choice: 'none' })
    expect(none.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('label') },
    })
    expect(none.choices[0].message.tool_calls).toBeUndefined()
    const capped = await client.chat.completions.create({ ...request, tool_choice: 'none', max_completion_tokens: 1 })
    expect(capped.choices[0].finish_reason).toBe('length')
    expect(capped.choices[0].message.content).toHaveLength(4)
  })

  it('call the tool that they are told to, and say which ones the agent knows', async () => {
    const [first, second] = words(agents.support)
    const request = { model: '@ann/support', messages: [user(ticket)], tools: [functionOf(first), functionOf(second)] }
    const told = (name: string) => ({ type: 'function' as const, function: { name } })
    const forced = await client.chat.completions.create({ ...request, tool_choice: told(second) })
    expect(toolOf(forced)).toBe(second)
    const unknown = client.chat.completions.create({
      ...{ ...request, tools: [functionOf('order_pizza')], tool_choice: 'required' as const },
    })
    await expect(unknown).rejects.toMatchObject({ status: 422, message: expect.stringContaining(first) })
  })

  it('name what is wrong', async () => {
    const ask = (model: string, content: unknown) =>
      client.chat.completions.create({ model, messages: [user(content)] })
    await expect(ask('@ann/support', { ...ticket, found: [0] })).rejects.toMatchObject({
      ...{ status: 422, code: 'observation_invalid', message: expect.stringMatching(/found.*5/) },
    })
    await expect(ask('@bob/support', ticket)).rejects.toMatchObject({ status: 404, type: 'not_found_error' })
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'another', maxRetries: 0 })
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'unauthenticated' })
  })
})

describe('responses', () => {
  const tools = () =>
    words(agents.returns).map((name) => ({ type: 'function' as const, name, parameters: {}, strict: false }))

  it('are function calls with arguments, whole and streamed', async () => {
    const request = { model: '@ann/returns', input: JSON.stringify(desk), tools: tools() }
    const whole = await client.responses.create(request)
    const decision = agents.returns.act(desk)
    expect(whole.output).toMatchObject([
      { type: 'function_call', name: decision.label, status: 'completed', call_id: expect.stringMatching(/^call_/) },
    ])
    const stream = client.responses.stream(request)
    const events = await Array.fromAsync(stream)
    const streamed = await stream.finalResponse()
    const said = (response: typeof whole) =>
      response.output.map((item) => (item.type === 'function_call' ? [item.name, item.arguments] : item.type))
    expect(said(streamed)).toEqual(said(whole))
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i))
    expect(streamed.usage).toEqual(whole.usage)
  })

  it('go on after the output of a call, and are text without tools', async () => {
    const after = { ...desk, damage: [0.9] }
    const response = await client.responses.create({
      model: '@ann/returns',
      input: [
        { role: 'user', content: JSON.stringify(desk) },
        { type: 'function_call', call_id: 'c1', name: 'find_orders', arguments: '' },
        { type: 'function_call_output', call_id: 'c1', output: JSON.stringify(after) },
      ],
    })
    expect(JSON.parse(response.output_text)).toMatchObject({ label: agents.returns.act(after).label })
    const stream = client.responses.stream({ model: '@ann/returns', input: JSON.stringify(after) })
    expect((await stream.finalResponse()).output_text).toBe(response.output_text)
    await expect(
      client.responses.create({ model: '@ann/returns', input: '{}', previous_response_id: 'resp_1' }),
    ).rejects.toMatchObject({ status: 422, message: expect.stringContaining('not stored') })
  })
})

describe('decisions', () => {
  it('choose among the words of a question, with probabilities that sum to one', async () => {
    const offered = words(agents.support).slice(0, 3)
    const question = (name: string, values: string[]) => ({
      ...{ type: 'choice' as const, name, instructions: 'Pick', choices: values.map((value) => ({ value })) },
    })
    const { answers, model } = await client.decisions.create({
      model: '@ann/support',
      input: JSON.stringify(ticket),
      questions: [
        question('all', words(agents.support)),
        question('some', offered),
        question('unknown', [...offered, 'order_pizza']),
        { type: 'predicate', name: 'sure', instructions: 'Is it?' },
      ],
    })
    expect(model).toBe('@ann/support@1.0.0')
    const [all, some, ...refused] = answers
    const whole = agents.support.act(ticket)
    expect(all).toMatchObject({ type: 'choice', name: 'all', choice: whole.label })
    const masked = agents.support.act(ticket, { mask: words(agents.support).map((word) => offered.includes(word)) })
    expect(some).toMatchObject({ type: 'choice', choice: masked.label })
    if (some.type !== 'choice') throw new Error('no choice')
    expect(some.probabilities.map(({ value }) => value)).toEqual(offered)
    expect(some.probabilities.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12)
    expect(some.confidence).toBe(Math.max(...some.probabilities.map(({ probability }) => probability)))
    expect(refused).toEqual([
      { type: 'refusal', name: 'unknown' },
      { type: 'refusal', name: 'sure' },
    ])
  })

  it('are the same in the form of System One', async () => {
    const criteria = Object.fromEntries(words(agents.support).map((word) => [word, null]))
    const questions = { tool: { type: 'choice', criteria }, worth: { type: 'score' } }
    const { answers } = await post('/v1/systemone', { model: '@ann/support', state: ticket, questions })
    expect(answers.tool).toMatchObject({ type: 'choice', choice: agents.support.act(ticket).label })
    expect(Object.keys(answers.tool.probabilities)).toEqual(words(agents.support))
    expect(answers.worth).toEqual({ type: 'refusal' })
  })
})

describe('POST /act', () => {
  it('decides on many observations at once, as the library does', async () => {
    const observations = [
      ticket,
      { ticket: 'I forgot my password', found: [1, 0, 0, 0, 0], done: [1, 0, 0, 0, 0, 0], calls: [0.1] },
    ]
    const { decisions } = await post('/act', { model: '@ann/support', observations })
    expect(decisions).toEqual(JSON.parse(JSON.stringify(agents.support.actBatch(observations))))
  })

  it('carries what an agent remembers', async () => {
    const observation = describeScenario(memoryMaze).observation
    const sample = observation.type === 'box' ? Array(observation.low.length).fill(0) : null
    const first = await post('/act', { model: '@ann/maze', observation: sample })
    const second = await post('/act', { model: '@ann/maze', observation: sample, state: first.state })
    const alone = agents.maze.act(sample, { state: agents.maze.act(sample).state })
    expect(second).toMatchObject({ action: alone.action, state: alone.state })
  })

  it('remembers what a conversation has shown it', async () => {
    const space = describeScenario(memoryMaze).observation
    const size = space.type === 'box' ? space.low.length : 0
    const observations = Array.from({ length: 6 }, (_, i) =>
      Array.from({ length: size }, (_, j) => (1 + Math.sin(i * 7 + j)) / 2),
    )
    const messages: OpenAI.ChatCompletionMessageParam[] = []
    const input: OpenAI.Responses.ResponseInput = []
    let state: string | null = null
    const chances: unknown[] = []
    for (const observation of observations) {
      const decision = agents.maze.act(observation, { state })
      state = decision.state
      const content = JSON.stringify(observation)
      messages.push({ role: 'user', content })
      input.push({ role: 'user', content })
      const { choices } = await client.chat.completions.create({ model: '@ann/maze', messages })
      expect(JSON.parse(choices[0].message.content ?? '')).toEqual({ action: decision.action, label: decision.label })
      const { output_text } = await client.responses.create({ model: '@ann/maze', input })
      expect(JSON.parse(output_text)).toEqual({ action: decision.action, label: decision.label })
      const values = (agents.maze.labels ?? []).map((value) => ({ value }))
      const { answers } = await client.decisions.create({
        ...{ model: '@ann/maze', input: input as OpenAI.Decisions.DecisionCreateParams['input'] },
        questions: [{ type: 'choice', name: 'next', instructions: 'Where?', choices: values }],
      })
      const [answer] = answers
      if (answer.type !== 'choice') throw new Error('no choice')
      for (const [i, { probability }] of answer.probabilities.entries())
        expect(probability).toBeCloseTo(decision.choices?.[i].probability ?? 0, 6)
      chances.push(decision.choices?.[0].probability)
      messages.push({ role: 'assistant', content: choices[0].message.content })
      input.push({ role: 'assistant', content: output_text })
    }
    // Otherwise memory would say nothing.
    expect(agents.maze.act(observations[5]).choices?.[0].probability).not.toBe(chances[5])
  })

  it('refuses what it cannot read', async () => {
    expect((await post('/act', { observations: [] })).error).toMatchObject({
      code: 'request_invalid',
      param: 'observations',
    })
    expect((await post('/act', 'not JSON')).error.message).toContain('not valid JSON')
    expect((await post('/act', { observation: ticket })).error.message).toContain('names no model')
    expect((await post('/v2', {})).error.code).toBe('endpoint_not_found')
  })
})

it('is watched by Prometheus and by probes', async () => {
  const get = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } })
  expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ status: 'ok' })
  const text = await (await get('/metrics')).text()
  expect(text).toMatch(/agent_decisions_total\{model="@ann\/support",route="act"\} [1-9]/)
  expect(text).toMatch(/agent_request_failures_total\{code="observation_invalid"\} [1-9]/)
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['@ann/support', '@ann/returns', '@ann/maze'])
})

function everyArgument(): object {
  const { action } = describeScenario(returns)
  const all = (n: number) => Array(n).fill(true)
  const entries = action.type === 'dict' ? action.entries : []
  return Object.fromEntries(
    entries.flatMap(({ name, space }) => {
      if (space.type !== 'dict') return []
      const parts = space.entries.flatMap(({ name: of, space: inner }) =>
        inner.type === 'discrete' ? [[of, all(inner.n)]] : [],
      )
      return [[name, Object.fromEntries(parts)]]
    }),
  )
}

function toolOf(completion: OpenAI.ChatCompletion): string {
  const [call] = completion.choices[0].message.tool_calls ?? []
  return call?.type === 'function' ? call.function.name : ''
}

function argumentsOf(completion: OpenAI.ChatCompletion): string {
  const [call] = completion.choices[0].message.tool_calls ?? []
  return call?.type === 'function' ? call.function.arguments : ''
}

async function post(path: string, body: unknown) {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return JSON.parse(await response.text())
}
