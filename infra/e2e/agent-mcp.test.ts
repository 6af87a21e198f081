// @module-tag full
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { agentServer, Episodes, type Listening, listenAgents, type ServedAgent } from '@agentgym/agent/server'
import { describeScenario } from '@agentgym/scenario/engine'
import { runCli } from '@agentgym/testkit/command-line'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import support from '../../plugins/customer-support/src/index.ts'
import returns from '../../plugins/returns-desk/src/index.ts'
import memoryMaze from '../../plugins/t-maze/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { repositoryRoot } from '../checks/repository-files.ts'
import { played, Ticket, tickets } from './held-out-tickets.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-mcp-'))
const episodes = join(home, 'episodes')
const key = 'a secret of the server'
const info = { name: 'a test', version: '1.0.0' }
const agents: Record<'support' | 'returns' | 'maze', Agent> = Object.create(null)
let served: ServedAgent[]
let server: Listening
let clients: Record<string, Connected>

/** What the clients of all revisions have in common. */
type Connected = {
  listTools(): Promise<{ tools: ListedTool[] }>
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<Record<string, unknown>>
  close(): Promise<void>
}
type ListedTool = { name: string; inputSchema: object; outputSchema?: object; description?: string }

beforeAll(async () => {
  for (const [name, definition] of Object.entries({ support, returns, maze: memoryMaze })) {
    const description = describeScenario(definition)
    const folder = join(home, name)
    writeRandomAgent(folder, name, description, description.memory)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: `@ann/${name}`, version: '1.0.0' }))
    agents[name as keyof typeof agents] = await loadAgent(folder)
  }
  served = Object.entries(agents).map(([name, agent]) => ({ name: `@ann/${name}`, version: '1.0.0', agent }))
  server = await startServer()
  clients = {
    'the client of 2026-07-28 over HTTP': await connect(server.url),
    'the client of 2025-11-25 over HTTP': await connectOld(server.url),
    'the client of 2026-07-28 over stdio': await connectStdio(),
    'the client of 2025-11-25 over stdio': await connectOldStdio(),
  }
})
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) await client.close()
  await server?.close()
  for (const agent of Object.values(agents)) agent.dispose()
  rmSync(home, { recursive: true })
})

function startServer(secret: string | undefined = key): Promise<Listening> {
  const app = agentServer(served, { key: secret, episodes: new Episodes(episodes) })
  return listenAgents(app, { host: '127.0.0.1', port: 0 })
}

const requestInit = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })

async function connect(url: string, secret = key): Promise<Connected> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: requestInit(secret) }))
  return client as Connected
}

async function connectOld(url: string): Promise<Connected> {
  const client = new OldClient(info)
  await client.connect(new OldHttpTransport(new URL(`${url}/mcp`), { requestInit: requestInit(key) }))
  return client as Connected
}

/** As a user configures it: one command, started anywhere. */
const started = () => ({
  command: join(repositoryRoot, 'agentgym'),
  args: ['agent', 'mcp', ...['support', 'returns', 'maze'].map((name) => join(home, name))],
  env: { AGENTGYM_HOME: home, PATH: process.env.PATH ?? '' },
  cwd: '/',
})

async function connectStdio(): Promise<Connected> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StdioClientTransport(started()))
  return client as Connected
}

async function connectOldStdio(): Promise<Connected> {
  const client = new OldClient(info)
  await client.connect(new OldStdioTransport(started()))
  return client as Connected
}

const ways = [
  'the client of 2026-07-28 over HTTP',
  'the client of 2025-11-25 over HTTP',
  'the client of 2026-07-28 over stdio',
  'the client of 2025-11-25 over stdio',
]

/** The structured result, which the text repeats. */
async function call(client: Connected, name: string, given?: Record<string, unknown>) {
  const result = await client.callTool({ name, ...(given && { arguments: given }) })
  const [{ text }] = result.content as { text: string }[]
  if (result.isError) return { error: text }
  expect(JSON.parse(text)).toEqual(result.structuredContent)
  return result.structuredContent as Record<string, unknown>
}

describe.each(ways)('%s', (way) => {
  it('handles twenty held-out tickets as the agent does on its own', async () => {
    for (const index of tickets) {
      const ticket = new Ticket(index)
      while (!ticket.done) {
        const { choice } = await call(clients[way], 'decide-ann_support', {
          observation: JSON.parse(ticket.observation),
        })
        ticket.call(choice as string)
      }
      expect(ticket.called).toEqual(played(agents.support, index))
    }
  })

  it('sees tools with the form of the observation, always the same ones', async () => {
    const { tools } = await clients[way].listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['decide-ann_support', 'decide-ann_returns'],
      ...['start_episode-ann_maze', 'act-ann_maze', 'end_episode-ann_maze'],
    ])
    expect(tools[0].inputSchema).toMatchObject({
      type: 'object',
      properties: {
        observation: { properties: { ticket: { type: 'string' }, found: { type: 'array', minItems: 5, maxItems: 5 } } },
        choices: { items: { enum: agents.support.labels } },
      },
      required: ['observation'],
    })
    expect(tools[0].outputSchema).toMatchObject({ properties: { choice: { enum: agents.support.labels } } })
    expect(tools[2].inputSchema).toEqual({ type: 'object', additionalProperties: false })
  })

  it('plays an episode with a tool that takes no arguments, without any (B35)', async () => {
    const { episode_id } = await call(clients[way], 'start_episode-ann_maze')
    const first = await call(clients[way], 'act-ann_maze', { episode_id, step: 0, observation: nothing })
    expect(first).toMatchObject({ step: 0, next_step: 1, action: agents.maze.act(nothing).action })
    expect(await call(clients[way], 'end_episode-ann_maze', { episode_id })).toEqual({ ended: true })
    expect(await call(clients[way], 'end_episode-ann_maze', { episode_id })).toEqual({ ended: false })
  })
})

const observed = describeScenario(memoryMaze).observation
const nothing = Array(observed.type === 'box' ? observed.low.length : 0).fill(0)
const client = () => clients[ways[0]]

describe('decisions', () => {
  it('have the arguments and the probabilities of the library', async () => {
    const features = Array(itemFeatures()).fill(0.5)
    const observation = { message: 'the kettle broke', damage: [0.4], orders: [{ id: 'A-17', features }] }
    const whole = await call(client(), 'decide-ann_returns', { observation })
    const { label, arguments: given, choices, action } = agents.returns.act(observation)
    const probabilities = choices?.map(({ label: choice, probability }) => ({ choice, probability }))
    const probability = choices?.find((each) => each.label === label)?.probability
    expect(whole).toEqual({
      ...{ model: '@ann/returns@1.0.0', choice: label, arguments: given, probability, probabilities, action },
      confidence: null,
    })
  })

  it('keep to the choices that are legal, or to a mask', async () => {
    const observation = JSON.parse(new Ticket(tickets[0]).observation)
    const words = agents.support.labels ?? []
    for (const word of words) {
      const mask = words.map((each) => each === word)
      for (const legal of [{ choices: [word] }, { mask }]) {
        const { choice, probability } = await call(client(), 'decide-ann_support', { observation, ...legal })
        expect([choice, probability]).toEqual([word, 1])
      }
    }
  })

  it('are taken of an observation in text, too, as language models write objects now and then', async () => {
    const { observation } = new Ticket(tickets[0])
    const { choice } = await call(client(), 'decide-ann_support', { observation })
    expect(choice).toBe(agents.support.act(JSON.parse(observation)).label)
  })

  it('say what is wrong with a call', async () => {
    const observation = JSON.parse(new Ticket(tickets[0]).observation)
    const refused = async (given: Record<string, unknown>) => (await call(client(), 'decide-ann_support', given)).error
    expect(await refused({ observation: { ...observation, found: [1] } })).toMatch(/"found" has 1 numbers.*has 5/)
    expect(await refused({ observation, choices: ['order_pizza'] })).toContain('knows no "order_pizza"')
    expect(await refused({ observation, chocies: [] })).toContain('takes observation, choices, mask')
    expect(await refused({})).toContain('"arguments.observation"')
    expect(await refused({ observation, choices: ['close'], mask: [] })).toContain('not both')
  })
})

describe('episodes', () => {
  const observations = Array.from({ length: 6 }, (_, i) => nothing.map((_zero, j) => (i + j) % 2))

  it('survive a restart of the server, with what the agent remembers', async () => {
    let first = await startServer()
    let connected = await connect(first.url)
    const { episode_id } = await call(connected, 'start_episode-ann_maze')
    let state: string | null = null
    for (const [step, observation] of observations.entries()) {
      if (step === 3) {
        await connected.close()
        await first.close()
        first = await startServer()
        connected = await connect(first.url)
      }
      const answered = await call(connected, 'act-ann_maze', { episode_id, step, observation })
      const alone = agents.maze.act(observation, { state })
      expect(answered).toMatchObject({ action: alone.action, step, next_step: step + 1 })
      expect(answered.probabilities).toEqual(
        alone.choices?.map(({ label, index, probability }) => ({ choice: label ?? index, probability })),
      )
      state = alone.state
    }
    // Otherwise memory would say nothing.
    expect(agents.maze.act(observations[5]).choices).not.toEqual(agents.maze.act(observations[5], { state }).choices)
    await connected.close()
    await first.close()
  })

  it('give a call that is sent again the same decision, and refuse another step', async () => {
    const { episode_id } = await call(client(), 'start_episode-ann_maze')
    const act = (step: number, observation: number[]) =>
      call(client(), 'act-ann_maze', { episode_id, step, observation })
    const first = await act(0, observations[0])
    expect(await act(0, observations[0])).toEqual(first)
    const second = await act(1, observations[1])
    expect(await act(1, observations[1])).toEqual(second)
    expect((await act(0, observations[0])).error).toContain('next step of this episode is 2')
    expect((await act(1, observations[2])).error).toContain('step 1 can be sent again with the same observation')
    expect((await act(3, observations[2])).error).toContain('Send step 2')
    expect((await act(2, [1])).error).toMatch(/has 1 numbers/)
    expect(await act(2, observations[2])).toMatchObject({ next_step: 3 })
  })

  it('belong to the key that they were begun with, and are over when they are ended', async () => {
    const { episode_id } = await call(client(), 'start_episode-ann_maze')
    const given = { episode_id, step: 0, observation: nothing }
    const other = await startServer('another secret')
    const stranger = await connect(other.url, 'another secret')
    expect((await call(stranger, 'act-ann_maze', given)).error).toContain('no such episode')
    expect(await call(stranger, 'end_episode-ann_maze', { episode_id })).toEqual({ ended: false })
    await stranger.close()
    await other.close()
    expect((await call(client(), 'act-ann_maze', { ...given, episode_id: '../../agent' })).error).toContain('no such')
    expect(await call(client(), 'act-ann_maze', given)).toMatchObject({ next_step: 1 })
    await call(client(), 'end_episode-ann_maze', { episode_id })
    expect((await call(client(), 'act-ann_maze', given)).error).toContain('no such episode')
  })

  it('are over after a day without a decision, and make room for others', async () => {
    const folder = join(home, 'idle')
    let now = Date.now()
    const store = new Episodes(folder, () => now)
    const owner = { key, modelHash: 'm' }
    const id = store.start(owner)
    const act = (step: number) => store.act(owner, { id, step, asked: step }, () => ({ decision: {}, state: null }))
    now += 23 * 3_600_000
    act(0)
    now += 25 * 3_600_000
    expect(() => act(1)).toThrow('no such episode')
    expect(readdirSync(folder)).toHaveLength(1)
  })
})

describe('a client that is not a library', () => {
  const post = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) }
  }
  const authorization = `Bearer ${key}`

  it.each([[undefined], [''], [null]])('may send %j for no arguments (B35)', async (given) => {
    const params = { name: 'start_episode-ann_maze', ...(given === undefined ? {} : { arguments: given }) }
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const { body } = await post(server.url, request, { authorization })
    expect(body.result.structuredContent).toEqual({ episode_id: expect.any(String), next_step: 0 })
  })

  it('needs the key', async () => {
    const { status, body } = await post(server.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect([status, body.error.code]).toEqual([401, 'unauthenticated'])
  })

  it('is told that a body is no JSON', async () => {
    const { status, body } = await post(server.url, '{', { authorization })
    expect([status, body.error.code]).toEqual([400, -32700])
  })

  it('is no page of the web, where there is no key', async () => {
    const open = await listenAgents(agentServer(served, { episodes: new Episodes(episodes) }), {
      ...{ host: '127.0.0.1', port: 0 },
    })
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    expect((await post(open.url, list, { origin: 'https://attacker.example' })).status).toBe(403)
    expect((await post(open.url, list, { origin: 'http://localhost:3000' })).status).toBe(200)
    expect((await post(open.url, list)).body.result.tools).toHaveLength(5)
    await open.close()
  })
})

it('the names of tools are what model APIs take, unique, and the same whatever else is served (B37)', async () => {
  const names = ['@acme/maze.v2', '@acme/maze-v2', '@acme/maze_v2', '@acme-maze/v2', `@acme/${'x'.repeat(74)}`]
  const listed = async (some: string[]) => {
    const these = some.map((name, i) => ({ name, version: null, agent: i % 2 ? agents.support : agents.returns }))
    const listening = await listenAgents(agentServer(these, { key }), { host: '127.0.0.1', port: 0 })
    const connected = await connect(listening.url)
    const { tools } = await connected.listTools()
    const observation = JSON.parse(new Ticket(tickets[0]).observation)
    const second = tools[1] && (await call(connected, tools[1].name, { observation }))
    await connected.close()
    await listening.close()
    return { tools: tools.map(({ name }) => name), second }
  }
  const all = await listed(names)
  for (const name of all.tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  expect(new Set(all.tools).size).toBe(names.length)
  expect(all.tools[1]).toBe('decide-acme_maze-v2')
  expect(all.second).toMatchObject({ model: '@acme/maze-v2' })
  for (const [i, name] of names.entries()) expect((await listed([name])).tools).toEqual([all.tools[i]])
})

it('one command prints the configuration of a client, which works as it is', async () => {
  const environment = { AGENTGYM_HOME: home }
  const { status, stdout } = await runCli(['agent', 'mcp', 'support', '--config'], { cwd: home, environment })
  expect(status).toBe(0)
  const { mcpServers } = JSON.parse(stdout)
  const configured = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await configured.connect(new StdioClientTransport({ ...mcpServers.support, cwd: '/' }))
  expect((await configured.listTools()).tools.map(({ name }) => name)).toEqual(['decide-ann_support'])
  await configured.close()
})

/** Numbers of an item in the list of orders. */
function itemFeatures(): number {
  const { observation } = describeScenario(returns)
  const entries = observation.type === 'dict' ? observation.entries : []
  const orders = entries.find(({ name }) => name === 'orders')?.space
  return orders?.type === 'list' ? orders.features : 0
}
