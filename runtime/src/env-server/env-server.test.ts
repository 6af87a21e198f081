import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fullTier } from '../../../testkit/src/tier.ts'
import { removeFixtures, scenarioOf, toolScenarioOf } from '../../test/scenario-fixture.ts'
import { type ServedFixture, serveScenarios, TestSocket } from './testing/served-fixture.ts'

/** A machine that is busy with other tests takes its time. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

/** Counts steps, unless it is asked to fail. Seven steps and the time is up. */
const counter = `
  observation: dict({ count: box({ shape: [1], low: 0, high: 10 }), luck: box({ shape: [1] }), task: box({ shape: [1] }) }),
  action: discrete({ n: 3, labels: ['count', 'throw', 'hang'] }),
  maxSteps: 7,
  tasks: { train: 5, eval: 6 },
  reset: ({ rng, task }) => ({ count: 0, luck: rng(), task: task.index }),
  step(state, action) {
    if (action === 1) throw new Error('as asked')
    while (action === 2);
    state.count += 1
    return { reward: 0.1, terminated: false }
  },
  observe: ({ count, luck, task }) => ({ count: [count], luck: [luck], task: [task] }),
  metrics: ({ count }) => ({ counted: count }),
`

const desk = `
  observation: dict({ message: text({ maxTokens: 8 }), orders: list({ slots: 3, features: 1 }) }),
  maxSteps: 5,
  start: () => ({ found: false, message: 'hello' }),
  tools: {
    look: { description: 'Look the orders up', run: (state) => { state.found = true; return { reward: 0.5 } } },
    refund: tool({
      description: 'Pay an order back',
      parameters: { order: pointer('orders'), percent: number({ low: 0, high: 100, integer: true }) },
      run: (state, { order, percent }) => { state.message = order + ' ' + percent; return { done: true } },
    }),
  },
  observe: ({ found, message }) => ({ message, orders: found ? [{ id: 'A-1', features: [2] }, { id: 'A-2', features: [3] }] : [] }),
  outcome: () => 1,
`

let served: ServedFixture
beforeAll(async () => {
  const scenarios = await Promise.all([scenarioOf(counter, { name: '@t/counter' }), toolScenarioOf(desk)])
  served = await serveScenarios(scenarios, { limits: { crossingMs: 300 } })
})
afterAll(async () => {
  await served.close()
  removeFixtures()
})

/** What the server's routes answer, as far as the tests look at it. */
type Body = {
  observation: { data: { count: number[] } }
  reward: number
  step_count: number
  error: { code: string; message: string }
  result: { session_id: string; tools: unknown[] }
  num_tasks: number
  tasks: object[]
  environments: { path: string }[]
  info: { version: string }
  paths: object
  action: object
  reset_observation: { required: string[] }
}
const read = async (response: Response | Promise<Response>): Promise<Body> => (await (await response).json()) as Body

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const count = { action: { action: 'count' } }
const play = (path = '/ws') => TestSocket.open(served.url + path)

describe('two clients of HTTP (B23)', () => {
  test('by their cookies, each plays its own episode', async () => {
    const clients = await Promise.all(
      [1, 2].map(async (seed) => {
        const reset = await fetch(`${served.url}/reset`, json({ seed }))
        return { cookie: (reset.headers.get('set-cookie') ?? '').split(';')[0] }
      }),
    )
    for (const expected of [1, 2, 3]) {
      for (const cookie of clients) {
        const { observation, reward } = await read(fetch(`${served.url}/step`, json(count, cookie)))
        expect(observation.data.count).toEqual([expected])
        expect(reward).toBe(0.1)
        const state = await read(fetch(`${served.url}/state`, { headers: cookie }))
        expect(state.step_count).toBe(expected)
      }
    }
  })

  test('by the names of their episodes, also', async () => {
    for (const episode_id of ['one', 'two']) await fetch(`${served.url}/reset`, json({ episode_id }))
    for (const expected of [1, 2, 3]) {
      for (const episode_id of ['one', 'two']) {
        const { observation } = await read(fetch(`${served.url}/step`, json({ ...count, episode_id })))
        expect(observation.data.count).toEqual([expected])
      }
    }
    const state = await (await fetch(`${served.url}/state?episode_id=two`)).json()
    expect(state).toMatchObject({ episode_id: 'two', step_count: 3, done: false })
  })

  test('who says nothing of itself is refused, with what to send', async () => {
    const response = await fetch(`${served.url}/step`, json(count))
    expect(response.status).toBe(404)
    expect((await read(response)).error).toMatchObject({
      code: 'session_not_found',
      hint: expect.stringContaining('episode_id'),
    })
  })
})

describe('a socket', () => {
  test('plays episodes to their end, with what the time limit cut and what was measured', async () => {
    const client = await play()
    const first = await client.reset({ seed: 3, episode_id: 'mine' })
    expect(first).toMatchObject({ type: 'observation', data: { reward: null, done: false } })
    expect(first.data.observation.legal_actions).toEqual(['count', 'throw', 'hang'])
    for (let step = 1; step < 7; step++) expect((await client.step({ action: 'count' })).data.done).toBe(false)
    const { data } = await client.step({ action: 'count' })
    expect(data).toMatchObject({ reward: 0.1, done: true })
    expect(data.metadata).toMatchObject({ truncated: true, metrics: { counted: 7 }, steps: 7 })
    expect(data.observation.metadata).toEqual(data.metadata)
    const state = await client.ask({ type: 'state' })
    expect(state).toMatchObject({ type: 'state', data: { episode_id: 'mine', step_count: 7, done: true, seed: 3 } })
    expect((await client.step({ action: 'count' })).data).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect((await client.reset({ seed: 3 })).data.observation.data).toEqual(first.data.observation.data)
    client.send({ type: 'close' })
    await client.closed
  })

  test('answers each message once and in order, whatever is wrong with it', async () => {
    const client = await play()
    client.send('no JSON')
    client.send({ type: 'dance' })
    client.send({ type: 'state', extra: 1 })
    client.send({ type: 'step', data: { action: 'count' } })
    client.send({ type: 'reset', data: { seed: -1 } })
    client.send({ type: 'reset', data: { seed: 1, row: 'of a data set' } })
    client.send({ type: 'step', data: { action: { of: 'another form' } } })
    client.send({ type: 'step', data: { action: 'count', more: 1 } })
    client.send({ type: 'step', data: { action: 'count' } })
    const codes = []
    for (let i = 0; i < 9; i++) {
      const { type, data } = await client.next()
      codes.push(type === 'error' ? data.code : type)
    }
    const invalid = 'VALIDATION_ERROR'
    expect(codes).toEqual([
      ...['INVALID_JSON', 'UNKNOWN_TYPE', invalid, invalid, invalid, 'observation', invalid, invalid, 'observation'],
    ])
    await client.close()
  })

  test('gets words that are no legal action back as an observation, and nothing has happened', async () => {
    const client = await play()
    await client.reset()
    const { data } = await client.step({ action: 'I would rather fly' })
    expect(data).toMatchObject({ reward: 0, done: false, metadata: { invalid_action: true } })
    expect(data.observation.error).toMatchObject({
      error_type: 'invalid_args',
      message: expect.stringContaining('count'),
    })
    expect((await client.ask({ type: 'state' })).data.step_count).toBe(0)
    expect((await client.step({ action: 'Thought: on we go.\nAction: Count' })).data.observation.error).toBeNull()
    expect((await client.ask({ type: 'state' })).data.step_count).toBe(1)
    await client.close()
  })
})

describe('a fault of the scenario', () => {
  test('is an error and no reward; the next reset goes on, and other sessions never noticed', async () => {
    const [client, other] = [await play(), await play()]
    await other.reset({ seed: 1 })
    for (const [action, code] of [
      ['throw', 'scenario_threw'],
      ['hang', 'scenario_timeout'],
    ]) {
      await client.reset({ seed: 1 })
      const failed = await client.step({ action })
      expect(failed).toMatchObject({ type: 'error', data: { code: 'EXECUTION_ERROR', error: { code } } })
      expect(failed.data).not.toHaveProperty('reward')
      expect((await client.step({ action: 'count' })).data).toMatchObject({ code: 'EXECUTION_ERROR', error: { code } })
    }
    expect((await client.reset({ seed: 1 })).type).toBe('observation')
    expect((await client.step({ action: 'count' })).data.observation.data).toMatchObject({ count: [1] })
    expect((await other.step({ action: 'count' })).data.observation.data).toMatchObject({ count: [1] })
    await Promise.all([client.close(), other.close()])
  })

  test('is a status over HTTP', async () => {
    await fetch(`${served.url}/reset`, json({ episode_id: 'fails' }))
    const response = await fetch(`${served.url}/step`, json({ action: { action: 'throw' }, episode_id: 'fails' }))
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ error: { code: 'scenario_threw', data: { scenario: '@t/counter' } } })
  })
})

describe('tools', () => {
  test('are listed before a reset, and called with words and ids', async () => {
    const client = await play('/envs/fixture/ws')
    const listed = await client.step({ type: 'list_tools' })
    expect(listed.data.observation.tools).toEqual([
      expect.objectContaining({ name: 'look', description: 'Look the orders up' }),
      expect.objectContaining({
        name: 'refund',
        input_schema: expect.objectContaining({ required: ['order', 'percent'] }),
      }),
    ])
    const reset = await client.reset()
    expect(reset.data.observation).toMatchObject({ text: 'hello\norders: none', legal_actions: ['look'] })
    expect(reset.data.observation.task).toContain('- refund: Pay an order back')
    const early = await client.step({ tool_name: 'refund', arguments: { order: 'A-1', percent: 5 } })
    expect(early.data.observation.error).toMatchObject({ message: expect.stringContaining('not legal now') })
    const looked = await client.step({ type: 'call_tool', tool_name: 'look', arguments: '' })
    expect(looked.data).toMatchObject({ reward: 0.5, observation: { tool_name: 'look', error: null } })
    expect(looked.data.observation.legal_actions).toEqual(['look', 'refund(order: A-1 | A-2, percent: 0 to 100)'])
    const unknown = await client.step({ tool_name: 'dance' })
    expect(unknown.data.observation.error).toMatchObject({ error_type: 'tool_not_found' })
    const paid = await client.step({ tool_name: 'refund', arguments: { order: 'A-2', percent: 50 } })
    expect(paid.data).toMatchObject({ reward: 1, done: true })
    expect(paid.data.observation.result).toContain('A-2 50')
    await client.close()
  })

  test('are called by JSON-RPC in sessions, which a socket may join', async () => {
    const rpc = (method: string, params: object = {}) =>
      read(fetch(`${served.url}/envs/fixture/mcp`, json({ jsonrpc: '2.0', id: 7, method, params })))
    const bad = await fetch(`${served.url}/mcp`, json({}))
    expect([bad.status, await bad.json()]).toMatchObject([200, { jsonrpc: '2.0', error: { code: -32_600 } }])
    expect((await rpc('tools/list')).result.tools).toHaveLength(2)
    const { session_id } = (await rpc('openenv/session/create')).result
    const client = await play(`/envs/fixture/ws?session_id=${session_id}`)
    await client.reset({ seed: 1, episode_id: 'shared' })
    const called = await rpc('tools/call', { name: 'look', arguments: {}, session_id })
    expect(called).toMatchObject({ id: 7, result: { isError: false, structuredContent: { reward: 0.5, done: false } } })
    expect((await client.ask({ type: 'state' })).data).toMatchObject({ episode_id: 'shared', step_count: 1 })
    const second = await play(`/envs/fixture/ws?session_id=${session_id}`)
    expect((await second.next()).data.code).toBe('SESSION_ERROR')
    await second.closed
    expect((await rpc('openenv/session/close', { session_id })).result).toEqual({
      ...{ session_id, closed: false, closing: true },
    })
    await client.close()
    await vi.waitFor(async () => {
      const { error } = await rpc('tools/call', { name: 'look', session_id })
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('Unknown session_id') })
    })
  })

  test('are called over a socket of JSON-RPC alone, where the first call begins an episode', async () => {
    const client = await play('/envs/fixture/mcp')
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look' } }
    expect(await client.ask(call)).toMatchObject({ id: 1, result: { structuredContent: { reward: 0.5 } } })
    expect(await client.ask({ ...call, method: 'dance' })).toMatchObject({ error: { code: -32_601 } })
    expect(await client.ask('nonsense')).toMatchObject({ error: { code: -32_700 } })
    await client.close()
  })
})

describe('tasks', () => {
  const ask = async (path: string, body: object) => fetch(`${served.url}/counter/${path}`, json(body))

  test('are ours by number; validation and test share none', async () => {
    expect(await (await fetch(`${served.url}/list_environments`)).json()).toEqual(['counter'])
    expect(await (await fetch(`${served.url}/counter/splits`)).json()).toEqual(
      ['train', 'validation', 'test'].map((name) => ({ name, type: name })),
    )
    const client = await play()
    const seen: Record<string, unknown[]> = {}
    for (const split of ['train', 'validation', 'test']) {
      const { num_tasks } = await read(ask('num_tasks', { split }))
      const { tasks } = await read(ask('tasks', { split }))
      expect(tasks).toHaveLength(num_tasks)
      seen[split] = []
      for (const task of tasks) {
        const { data } = await client.reset(task)
        expect((await client.reset(task)).data.observation.data).toEqual(data.observation.data)
        seen[split].push((data.observation.data as { task: number[] }).task[0])
      }
    }
    expect(seen).toEqual({ train: [0, 1, 2, 3, 4], validation: [3, 4, 5], test: [0, 1, 2] })
    expect((await client.reset({ split: 'test', index: 3 })).data).toMatchObject({
      ...{ code: 'VALIDATION_ERROR', message: expect.stringContaining('test has the tasks 0 to 2') },
    })
    await client.close()
  })

  test('that do not exist are refused', async () => {
    expect((await ask('task', { split: 'test', index: 3 })).status).toBe(400)
    expect((await ask('tasks', { split: 'exam' })).status).toBe(400)
    expect((await ask('task', { split: 'test' })).status).toBe(422)
    expect((await fetch(`${served.url}/other/splits`)).status).toBe(404)
    expect(await (await ask('task_range', { split: 'train', start: -2 })).json()).toEqual({
      tasks: [3, 4].map((index) => ({ split: 'train', index })),
    })
  })
})

describe('capacity', { tags: fullTier }, () => {
  test('is refused beyond, and comes back when sockets are cut', async () => {
    const held = served.sessions.active
    const clients = await Promise.all(Array.from({ length: served.sessions.limits.most - held }, () => play()))
    await Promise.all(clients.map((client) => client.reset()))
    const late = await play()
    expect(await late.next()).toMatchObject({
      ...{ type: 'error', data: { code: 'CAPACITY_REACHED', active_sessions: 16, max_sessions: 16 } },
    })
    await late.closed
    const refused = await fetch(`${served.url}/reset`, json({}))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(clients.length).toBeGreaterThanOrEqual(10)
    for (const client of clients) client.cut()
    await vi.waitFor(() => expect(served.sessions.active).toBe(held))
    const next = await play()
    expect((await next.reset()).type).toBe('observation')
    await next.close()
  })

  test('comes back from clients that are idle, whichever way they came', async () => {
    const client = await play()
    await client.reset()
    await fetch(`${served.url}/reset`, json({ episode_id: 'idle' }))
    served.sessions.reap(Date.now() + served.sessions.limits.idleMs + 1)
    expect(served.sessions.active).toBe(0)
    expect((await client.next()).data).toMatchObject({
      code: 'SESSION_ERROR',
      message: expect.stringContaining('600 s'),
    })
    await client.closed
    expect((await fetch(`${served.url}/step`, json({ ...count, episode_id: 'idle' }))).status).toBe(404)
  })

  test('comes back from a machine that has vanished without a word (B23)', async () => {
    const [scenario] = served.environments.map(({ host }) => host.scenario)
    const quick = await serveScenarios([scenario], { pingMs: 20 })
    const { hostname, port } = new URL(quick.url)
    // Speaks the handshake and then answers nothing, pings included.
    const silent = connect(Number(port), hostname)
    const handshake = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    silent.write(
      ['GET /ws HTTP/1.1', `Host: ${hostname}:${port}`, ...handshake, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
        .join('\r\n')
        .concat('\r\n\r\n'),
    )
    silent.on('error', () => {})
    await vi.waitFor(() => expect(quick.sessions.counts.opened).toBe(1))
    await vi.waitFor(() => expect(quick.sessions.active).toBe(0))
    silent.destroy()
    await quick.close()
  })
})

describe('who may call', { tags: fullTier }, () => {
  test('without a key: this machine by its own name, and no page of another site', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      expect((await fetch(`${served.url}/health`, { headers: { origin } })).status).toBe(403)
    }
    expect((await fetch(`${served.url}/health`, { headers: { origin: served.url } })).status).toBe(200)
    const socket = TestSocket.open(`${served.url}/ws`, { origin: 'https://evil.example' })
    await expect(socket).rejects.toThrow('403')
    const renamed = await TestSocket.open(`${served.url}/ws`, { host: 'rebound.example' }).catch(String)
    expect(renamed).toContain('403')
  })

  test('open to everyone: by any name, and still no page of another site', async () => {
    const [scenario] = served.environments.map(({ host }) => host.scenario)
    const open = await serveScenarios([scenario], { withoutKey: true })
    const client = await TestSocket.open(`${open.url}/ws`, { host: 'ann-cart-pole.example' })
    expect(await client.ask({ type: 'reset', data: {} })).toMatchObject({ type: 'observation' })
    await client.close()
    const evil = await fetch(`${open.url}/health`, { headers: { origin: 'https://evil.example' } })
    expect(evil.status).toBe(403)
    await open.close()
  })

  test('with a key: who has it, by requests and sockets', async () => {
    const [scenario] = served.environments.map(({ host }) => host.scenario)
    const locked = await serveScenarios([scenario], { key: 'a secret' })
    const headers = { authorization: 'Bearer a secret' }
    expect((await fetch(`${locked.url}/metadata`)).status).toBe(401)
    expect((await fetch(`${locked.url}/metadata`, { headers })).status).toBe(200)
    expect((await fetch(`${locked.url}/healthz`)).status).toBe(200)
    await expect(TestSocket.open(`${locked.url}/ws`)).rejects.toThrow('401')
    const client = await TestSocket.open(`${locked.url}/ws`, headers)
    expect((await client.reset()).type).toBe('observation')
    await client.close()
    await locked.close()
  })

  test('nobody with a body that is too large, or a message', async () => {
    const large = 'x'.repeat(2 ** 20)
    expect(await statusOfLargeBody(`${served.url}/reset`)).toBe(413)
    const client = await play()
    expect((await client.reset({ large })).data.code).toBe('VALIDATION_ERROR')
    expect((await client.reset({})).type).toBe('observation')
    await client.close()
  })
})

/** Announces a body and sends none: the answer comes before it, and a client that is still writing may find its socket closed. */
async function statusOfLargeBody(url: string): Promise<number | undefined> {
  const asked = request(url, { method: 'POST', headers: { 'content-length': 2 ** 20 + 1 } })
  asked.on('error', () => {})
  asked.flushHeaders()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  asked.destroy()
  return answer.statusCode
}

test('what it is, is on its pages', async () => {
  const get = (path: string) => read(fetch(served.url + path))
  expect(await get('/health')).toEqual({ status: 'healthy' })
  expect(await get('/metadata')).toMatchObject({
    name: 'counter',
    description: 'A scenario of a test.',
    version: '1.2.3',
  })
  expect((await get('/envs')).environments.map(({ path }) => path)).toEqual([...['/envs/counter', '/envs/fixture']])
  const { paths, info } = await get('/openapi.json')
  expect(info.version).toBe('1.2.3')
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/reset', '/step', '/state']))
  const { action, reset_observation } = await get('/envs/counter/schema')
  expect(action).toMatchObject({ required: ['action'], properties: { action: { type: 'string' } } })
  expect(reset_observation.required).toContain('task')
  const metrics = await (await fetch(`${served.url}/metrics`)).text()
  expect(metrics).toMatch(/env_steps_total\{environment="counter",protocol="openenv"\} \d+/)
  expect(metrics).toMatch(/env_environments_max 16/)
})
