import { postgresql } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { meteredAgent } from '../metering/testing/metered-agents.ts'
import { createTrader, type Listed } from '../orders/testing/marketplace.ts'
import { hostingTasks } from './hosting.tasks.ts'
import { type Asked, acted, failed, type HostingServer, startHosting } from './testing/hosting-server.ts'

const times = { waitMs: 30_000, leaseMs: 20_000, pollMs: 50 }
const observation = { type: 'text', maxTokens: 8, vocabulary: 256 }
const action = { type: 'discrete', n: 2, start: 0, labels: ['left', 'right'] }

describe('a hosted agent behind MCP', () => {
  let database: Database
  let server: HostingServer
  let working: ReturnType<HostingServer['work']>
  let token: string
  let agent: Listed
  let answers: (call: Asked) => ReturnType<typeof acted> = acted
  const states: (string | null)[] = []
  const seen: { observation: unknown; action_mask: unknown }[] = []

  beforeAll(async () => {
    database = await postgresql.open()
    server = await startHosting(database, times)
    token = await server.callerToken(await createTrader(database))
    working = server.work((call) => {
      seen.push({ observation: call.observation, action_mask: call.action_mask })
      states.push(call.state ?? null)
      return answers(call)
    })
    await use({})
  })
  afterAll(async () => {
    await working.stop()
    await server.close()
    await database.close()
  })

  const use = async (of: Parameters<typeof meteredAgent>[1], scenario: object = {}, policy: object = {}) => {
    agent = await meteredAgent(database, of)
    const manifest = JSON.stringify({ scenario: { observation, action, ...scenario }, policy })
    await database.query
      .insertInto('agent_versions')
      .values({ version_id: agent.versions['1.0.0'], manifest })
      .execute()
  }
  const send = async (body: unknown, as: string | null = token, path = `/mcp/${agent.name}`) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const authorization = as === null ? {} : { authorization: `Bearer ${as}` }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { ...headers, ...authorization },
      body: text,
    })
    const answer = await response.text()
    return { status: response.status, body: JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer) }
  }
  const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
  const tools = async () => (await send(request('tools/list'))).body.result.tools
  const callTool = async (index: number, given: unknown, as = token) => {
    const { name } = (await tools())[index]
    return (await send(request('tools/call', { name, arguments: given }), as)).body.result
  }
  const call = async (given: unknown) => {
    const [{ name }] = await tools()
    return (await send(request('tools/call', { name, arguments: given }))).body.result
  }

  it('is one tool, which calls it with what is legal', async () => {
    const [tool] = await tools()
    expect(tool).toMatchObject({
      name: expect.stringMatching(/^decide-[A-Za-z0-9_-]+$/),
      inputSchema: { properties: { observation: { type: 'string' }, choices: { items: { enum: ['left', 'right'] } } } },
    })
    const { structuredContent, content } = await call({ observation: 'hello', choices: ['right'] })
    expect(structuredContent).toMatchObject({
      ...{ model: `${agent.name}@1.0.0`, choice: 'right', action: 1, probability: 0.75 },
      probabilities: [
        { choice: 'left', probability: 0.25 },
        { choice: 'right', probability: 0.75 },
      ],
    })
    expect(JSON.parse(content[0].text)).toEqual(structuredContent)
    expect(seen.at(-1)).toEqual({ observation: 'hello', action_mask: [false, true] })
  })

  it('speaks the revision of 2026-07-28, without a handshake', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await fetch(`${server.url}/mcp/${agent.name}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ authorization: `Bearer ${token}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      },
      body: JSON.stringify(request('tools/list', { _meta: meta })),
    })
    expect(await response.json()).toMatchObject({ result: { resultType: 'complete', cacheScope: 'private' } })
  })

  it('has handles of the episodes of an agent with memory', async () => {
    await use({}, {}, { memory: { kind: 'gru', units: 8 } })
    const names = (await tools()).map((tool: { name: string }) => tool.name.split('-')[0])
    expect(names).toEqual(['start_episode', 'act', 'end_episode'])
    let decided = 0
    answers = (asked) => {
      decided += 1
      return { ...acted(asked), state: `after ${asked.state ?? 'nothing'}, ${asked.observation}` }
    }
    const { structuredContent: begun } = await callTool(0, {})
    expect(begun).toEqual({ episode_id: expect.stringMatching(/^[\w-]{24}$/), next_step: 0 })
    const { episode_id } = begun
    states.length = 0
    const act = (step: number, observation: string, as = token) => callTool(1, { episode_id, step, observation }, as)
    const first = (await act(0, 'a')).structuredContent
    expect(first).toMatchObject({ choice: 'right', step: 0, next_step: 1 })
    // Sent again, it is the same decision and no further call; so is one that is sent twice at once.
    expect((await act(0, 'a')).structuredContent).toEqual(first)
    const twice = await Promise.all([act(1, 'b'), act(1, 'b')])
    expect(twice[0]).toEqual(twice[1])
    expect((await act(2, 'c')).structuredContent.next_step).toBe(3)
    expect(decided).toBe(3)
    expect(states).toEqual([null, 'after nothing, a', 'after after nothing, a, b'])
    expect(await act(7, 'd')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('step 3') }] })

    const stranger = await server.callerToken(await createTrader(database))
    expect((await act(3, 'd', stranger)).content[0].text).toContain('There is no such episode')
    expect((await callTool(2, { episode_id })).structuredContent).toEqual({ ended: true })
    expect((await callTool(2, { episode_id })).structuredContent).toEqual({ ended: false })
    expect((await act(3, 'd')).content[0].text).toContain('There is no such episode')
    answers = acted
  })

  it('forgets episodes a day after their last decision, and has a limit for an account', async () => {
    await use({}, {}, { memory: { kind: 'gru', units: 8 } })
    const { episode_id } = (await callTool(0, {})).structuredContent
    await database.query
      .updateTable('hosted_episodes')
      .set({ used_at: sql<Date>`now() - interval '25 hours'` })
      .execute()
    expect((await callTool(1, { episode_id, step: 0, observation: 'a' })).isError).toBe(true)
    for (const { run } of hostingTasks({ database })) await run()
    expect(await database.query.selectFrom('hosted_episodes').selectAll().execute()).toEqual([])
    await callTool(0, {})
    await sql`insert into hosted_episodes (handle_hash, account_id, version_id)
      select 'filler ' || n, account_id, version_id from hosted_episodes, generate_series(1, 999) as n`.execute(
      database.query,
    )
    expect((await callTool(0, {})).content[0].text).toContain('1000 episodes in progress')
  })

  it('counts calls as every other way does, and failed ones not', async () => {
    await use({})
    const usage = async () =>
      (await database.query.selectFrom('usage_events').select('id').where('package_id', '=', agent.id).execute()).length
    await call({ observation: 'a' })
    expect(await usage()).toBe(1)
    expect(await call({ observation: 'a', choices: ['up'] })).toMatchObject({ isError: true })
    answers = failed
    const { isError, content } = await call({ observation: 'a' })
    answers = acted
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining('failed during the call')])
    expect(await usage()).toBe(1)
  })

  it('needs a token that may call agents, and what every call needs', async () => {
    expect(await send(request('tools/list'), null)).toMatchObject({
      status: 401,
      body: { error: { code: 'unauthenticated' } },
    })
    const reader = await server.tokenOf(await createTrader(database), 'packages:read')
    expect((await send(request('tools/list'), reader)).status).toBe(403)
    expect((await send(request('tools/list'), token, '/mcp/@nobody/nothing')).status).toBe(404)
    expect((await send('{')).body.error.code).toBe(-32700)
    await use({ licenseMinor: 500 })
    const { isError, content } = await call({ observation: 'a' })
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining(`agentgym buy ${agent.name}@1`)])
    const own = await meteredAgent(database, {})
    await database.query.updateTable('packages').set({ visibility: 'private' }).where('id', '=', own.id).execute()
    expect((await send(request('tools/list'), token, `/mcp/${own.name}`)).status).toBe(404)
  })
})
