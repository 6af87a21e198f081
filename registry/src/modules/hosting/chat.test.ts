import type { HostedAction } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { meteredAgent } from '../metering/testing/metered-agents.ts'
import { buy, createTrader, fund, type Listed } from '../orders/testing/marketplace.ts'
import { acted, type HostingServer, startHosting } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }
const support = {
  type: 'dict',
  choice: 'tool',
  entries: [
    { name: 'tool', space: { type: 'discrete', n: 2, start: 0, labels: ['search', 'close'] } },
    {
      name: 'search',
      space: {
        type: 'dict',
        entries: [
          { name: 'limit', space: { type: 'discrete', n: 9, start: 1 } },
          { name: 'order', space: { type: 'discrete', n: 2, start: 1, labels: ['newest', 'best'] } },
        ],
      },
    },
  ],
}
const text = { type: 'text', maxTokens: 8, vocabulary: 256 }

describe('chat completions', () => {
  let database: Database
  let server: HostingServer
  let working: ReturnType<HostingServer['work']>
  let token: string
  let agent: Listed
  let action: Partial<HostedAction> = {}
  const seen: unknown[] = []
  const masks: unknown[] = []
  const histories: unknown[] = []

  beforeAll(async () => {
    database = await postgresql.open()
    server = await startHosting(database, times)
    agent = await meteredAgent(database, {})
    token = await server.callerToken(await createTrader(database))
    working = server.work((call) => {
      seen.push(call.observation)
      masks.push(call.action_mask)
      histories.push(call.history)
      return { ...acted(call), ...action }
    })
  })
  afterAll(async () => {
    await working.stop()
    await server.close()
    await database.close()
  })

  const ask = async (body: Record<string, unknown>, as: string | null = token) => {
    action = (body.acts as Partial<HostedAction>) ?? {}
    const { acts: _acts, ...request } = body
    const headers: Record<string, string> = { 'content-type': 'application/json' }
    if (as !== null) headers.authorization = `Bearer ${as}`
    const sent = JSON.stringify({ model: agent.name, messages: [{ role: 'user', content: '[1,2]' }], ...request })
    const response = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers, body: sent })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const requested = async (body: Record<string, unknown>) => JSON.parse((await ask(body)).text)
  /** Uses an agent with these spaces in the following calls. */
  const spaces = async (observation: object, action: object, policy: { memory?: object } = {}) => {
    agent = await meteredAgent(database, {})
    const manifest = JSON.stringify({ scenario: { observation, action }, policy })
    await database.query
      .insertInto('agent_versions')
      .values({ version_id: agent.versions['1.0.0'], manifest })
      .execute()
  }

  it('the last user or tool message is the observation, and the response is the action as JSON', async () => {
    const messages = [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: null, tool_calls: [] },
      {
        role: 'user',
        content: [
          { type: 'text', text: '{"position":' },
          { type: 'text', text: '0.5}' },
        ],
      },
    ]
    const answer = await requested({ messages, temperature: 0.2, model: `${agent.name}@^1.0.0` })
    expect(seen.at(-1)).toEqual({ position: 0.5 })
    expect(answer).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: `${agent.name}@1.0.0`,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '{"action":1,"label":"right"}', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 4, completion_tokens: 7, total_tokens: 11 },
    })
    await requested({ messages: [...messages, { role: 'tool', tool_call_id: 'x', content: 'not JSON' }] })
    expect(seen.at(-1)).toBe('not JSON')
  })

  it('an agent with text observations gets the text unchanged', async () => {
    await requested({ messages: [{ role: 'user', content: '42' }] })
    expect(seen.at(-1)).toBe(42)
    await spaces(text, support)
    for (const [content, expected] of [
      ['42', '42'],
      ['"42"', '42'],
      ['{"a":1}', '{"a":1}'],
      ['Hello', 'Hello'],
    ]) {
      await requested({ messages: [{ role: 'user', content }] })
      expect(seen.at(-1)).toBe(expected)
    }
  })

  it('an agent with memory observes again what it answered before', async () => {
    const messages = [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: 'not heard' },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant', content: 'More words, to the same.' },
      { role: 'tool', tool_call_id: 'x', content: 'second' },
      { role: 'assistant', content: '{"action":1}' },
      { role: 'user', content: 'third' },
    ]
    await spaces(text, support)
    await requested({ messages })
    expect([seen.at(-1), histories.at(-1)]).toEqual(['third', undefined])
    await spaces(text, support, { memory: { kind: 'gru', units: 8 } })
    await requested({ messages })
    expect([seen.at(-1), histories.at(-1)]).toEqual(['third', ['first', 'second']])
    const input = [
      { role: 'user', content: 'first' },
      { type: 'function_call', call_id: 'x', name: 'search', arguments: '{}' },
      { type: 'function_call_output', call_id: 'x', output: 'second' },
    ]
    const send = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      return (await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
    }
    await send('/v1/responses', { model: agent.name, input })
    expect([seen.at(-1), histories.at(-1)]).toEqual(['second', ['first']])
    const long = Array.from({ length: 257 }, () => messages.slice(2, 4)).flat()
    expect((await requested({ messages: [...long, messages[1]] })).error.message).toContain('answered 257 times')
    // System One has no place for what came before.
    const questions = { next: { type: 'choice', criteria: { search: null, right: null } } }
    const { error } = (await send('/v1/systemone', { model: agent.name, state: 'first', questions })) as {
      error: { message: string }
    }
    expect(error.message).toContain('this agent remembers earlier observations')
  })

  it('an action that names a tool of the request is a tool call', async () => {
    await spaces(text, support)
    const tools = ['search', 'right'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))
    const [{ message, finish_reason }] = (await requested({ tools })).choices
    expect(finish_reason).toBe('tool_calls')
    expect(message).toMatchObject({ content: null, tool_calls: [{ function: { name: 'right', arguments: '{}' } }] })
    // Of a tool scenario, with words and with ids of the items that the agent was shown.
    const acts = {
      action: { tool: 0, search: { limit: 3, order: 'best', item: 'A-17' } },
      label: 'search',
      probabilities: null,
    }
    expect((await requested({ tools, acts })).choices[0].message.tool_calls).toMatchObject([
      {
        type: 'function',
        id: expect.stringMatching(/^call_/),
        function: { name: 'search', arguments: '{"limit":3,"order":"best","item":"A-17"}' },
      },
    ])
    // `close` was not offered; `none` wants no call.
    const close = { ...acts, action: { tool: 1 }, label: 'close' }
    for (const body of [{ tools, acts: close }, { tools, acts, tool_choice: 'none' }, { acts }]) {
      const [choice] = (await requested(body)).choices
      expect(choice.finish_reason).toBe('stop')
      expect(JSON.parse(choice.message.content)).toEqual({ action: body.acts.action, label: body.acts.label })
    }
  })

  it('the tools of a request are what is legal', async () => {
    await spaces(text, support)
    masks.length = 0
    const offer = (...names: string[]) => names.map((name) => ({ type: 'function', function: { name } }))
    await requested({ tools: offer('search', 'close', 'other') })
    await requested({ tools: offer('close') })
    await requested({
      tools: offer('search', 'close'),
      tool_choice: { type: 'function', function: { name: 'search' } },
    })
    await requested({ tools: offer('other') })
    const search = { limit: Array(9).fill(true), order: [true, true] }
    expect(masks).toEqual([
      { tool: [true, true], search },
      { tool: [false, true], search },
      { tool: [true, false], search },
      null,
    ])
    const refused = await ask({ tools: offer('other'), tool_choice: 'required' })
    expect([refused.status, JSON.parse(refused.text).error.message]).toEqual([
      422,
      expect.stringContaining('it knows search, close'),
    ])
  })

  it('the Responses API calls the same agents', async () => {
    await spaces(text, support)
    action = { action: { tool: 0, search: { limit: 3 } }, label: 'search', probabilities: null }
    const respond = async (body: object) => {
      const response = await fetch(`${server.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: agent.name, ...body }),
      })
      return { status: response.status, text: await response.text() }
    }
    const tools = [{ type: 'function', name: 'search', parameters: {} }]
    const input = [
      { role: 'user', content: 'first' },
      { type: 'function_call', call_id: 'c', name: 'search', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'found nothing' },
    ]
    const whole = await respond({ input, tools })
    expect(seen.at(-1)).toBe('found nothing')
    expect(JSON.parse(whole.text)).toMatchObject({
      object: 'response',
      model: `${agent.name}@1.0.0`,
      output: [{ type: 'function_call', name: 'search', arguments: '{"limit":3}' }],
    })
    const streamed = await respond({ input, tools, stream: true })
    expect(streamed.text).toMatch(/^event: response\.created\n/)
    expect(streamed.text).toContain('event: response.completed\n')
    const stored = await respond({ input, previous_response_id: 'resp_1' })
    expect([stored.status, JSON.parse(stored.text).error.param]).toEqual([422, 'previous_response_id'])
  })

  it('streams are server-sent events, up to [DONE]', async () => {
    const tools = [{ type: 'function', function: { name: 'right' } }]
    const answer = await ask({ stream: true, stream_options: { include_usage: true }, tools })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const events = answer.text
      .trimEnd()
      .split('\n\n')
      .map((event) => event.replace(/^data: /, ''))
    expect(events.pop()).toBe('[DONE]')
    const chunks = events.map((event) => JSON.parse(event))
    expect(chunks.map(({ object }) => object)).toEqual(Array(3).fill('chat.completion.chunk'))
    expect(chunks[0].choices[0].delta).toMatchObject({
      role: 'assistant',
      tool_calls: [{ index: 0, function: { name: 'right' } }],
    })
    expect([chunks[1].choices[0].finish_reason, chunks[2].choices]).toEqual(['tool_calls', []])
    expect(chunks[2].usage.total_tokens).toBeGreaterThan(0)
  })

  it('all failures have OpenAI’s format', async () => {
    const cases: [Record<string, unknown>, string | null, number, string, string, string | null][] = [
      [{}, null, 401, 'unauthenticated', 'authentication_error', null],
      [{}, 'agt_unknown', 401, 'unauthenticated', 'authentication_error', null],
      [
        {},
        await server.tokenOf(await createTrader(database), 'packages:read'),
        403,
        'forbidden',
        'permission_error',
        null,
      ],
      [{ model: '@nobody/nothing' }, token, 404, 'package_not_found', 'not_found_error', null],
      [{ model: 'gpt-5' }, token, 422, 'request_invalid', 'invalid_request_error', 'model'],
      [{ messages: [] }, token, 422, 'request_invalid', 'invalid_request_error', 'messages'],
      [{ n: 2 }, token, 422, 'request_invalid', 'invalid_request_error', 'n'],
      [
        { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
        token,
        422,
        'request_invalid',
        'invalid_request_error',
        'messages',
      ],
      [
        { messages: [{ role: 'system', content: 'x' }] },
        token,
        422,
        'request_invalid',
        'invalid_request_error',
        'messages',
      ],
      [
        { messages: [{ role: 'user', content: 'x'.repeat(300_000) }] },
        token,
        413,
        'request_too_large',
        'invalid_request_error',
        null,
      ],
    ]
    for (const [body, as, status, code, type, param] of cases) {
      const answer = await ask(body, as)
      const { error } = JSON.parse(answer.text)
      expect([answer.status, error], JSON.stringify(body).slice(0, 100)).toMatchObject([status, { code, type, param }])
      expect(typeof error.message).toBe('string')
    }
    await spaces({ type: 'box', shape: [1], low: [0], high: [1] }, support)
    const deep = await ask({ messages: [{ role: 'user', content: '['.repeat(90) + ']'.repeat(90) }] })
    expect(JSON.parse(deep.text).error.code).toBe('request_invalid')
    const paid = await meteredAgent(database, { licenseMinor: 500 })
    const { error } = JSON.parse((await ask({ model: paid.name })).text)
    expect(error).toMatchObject({ code: 'payment_required', type: 'insufficient_quota' })
    expect(error.message).toContain(`agentgym buy ${paid.name}@1`)
    // Whatever else the token may do: to call is what it is for.
    expect(error.message).not.toContain('packages:read')
  })

  it('models are the agents that the caller owns or bought', async () => {
    const caller = await createTrader(database)
    await fund(database, caller.accountId, 10_000)
    const own = await meteredAgent(database, {})
    await database.query.updateTable('packages').set({ visibility: 'private' }).where('id', '=', own.id).execute()
    const bought = await meteredAgent(database, { licenseMinor: 500 })
    await buy(server.services, caller, bought)
    const models = async (as: string) => {
      const { body } = await server.ask(as, 'GET', '/v1/models')
      return (body.data as { id: string; object: string }[]).map(({ id }) => id)
    }
    expect(await models(await server.callerToken(caller))).toEqual([bought.name])
    expect(await models(await server.callerToken(own.seller))).toEqual([own.name])
    expect(await server.ask(null, 'GET', '/v1/models')).toMatchObject({
      status: 401,
      body: { error: { type: 'authentication_error' } },
    })
  })
})
