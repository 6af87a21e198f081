// @module-tag full
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Client, packagePath, publishPackage, versionPath } from '@agentgym/client'
import type { HostedCall, Run } from '@agentgym/contract'
import { startServerProcess as startServer, type ServerProcess as TestServer } from '@agentgym/testkit/command-line'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { makePythonEnvironment } from '@agentgym/testkit/python'
import { isLong } from '@agentgym/testkit/tier'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'

// Python has many packages to fetch: only the long form does.
const name = '@acme/balancer'
const settings = { environments: 8, rollout_steps: 32, evaluation_episodes: 4, evaluate_every: 0 }
const observations = [
  [0, 0, 0.2, 0],
  [0, 0, -0.2, 0],
  [1, -1, 0.05, 2],
  [-1, 1, -0.05, -2],
]
const folder = mkdtempSync(join(tmpdir(), 'agentgym-snippets-'))
/** Where a stranger works: the agent is installed there, and the libraries that the titles name. */
const work = join(folder, 'work')
type McpEntry = { command: string; args: string[]; env: Record<string, string> }
let server: TestServer
let author: { client: Client; token: string }
let snippets: Map<string, string>
/** What the hosted agent does upon each observation. */
let hosted: unknown[]

beforeAll(async () => {
  execFileSync(process.execPath, [join(repositoryRoot, 'web/build.ts')])
  server = await startServer(join(folder, 'data'), folder)
  author = await signUpAt(server.url, 'acme', ['packages:manage', 'training:start', 'training:view', 'agents:call'])
  await trainAgent(author.client)
  snippets = readSnippets(await (await fetch(`${server.url}/packages/${name}`)).text())
  hosted = await hostedActions(observations)
  mkdirSync(work)
  writeFileSync(join(work, 'package.json'), '{ "private": true, "type": "module" }')
  await run('sh', ['-c', snippet('Install with npm')])
  link('openai', 'node_modules/openai')
  link('onnxruntime-node', 'runtime/node_modules/onnxruntime-node')
}, 600_000)
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}, 120_000)

it('the page of an agent has a snippet for each way to use it, and no other', () => {
  expect([...snippets.keys()].map((title) => title.replace(/ \(.*| as .*/, '').replace(/,$/, ''))).toEqual([
    ...['OpenAI client in Python', 'OpenAI client in JavaScript', 'LangChain model', 'MCP endpoint'],
    ...['Install with npm', 'Node.js', 'Python', 'LangChain tool', 'AutoGen tool', 'CrewAI tool', 'MCP server'],
  ])
})

describe('in JavaScript', { timeout: 300_000 }, () => {
  it("OpenAI's client gets the agent's action", async () => {
    const text = snippet('OpenAI client in JavaScript')
    const [, shown] = /const observation = (.*)/.exec(text) ?? []
    expect([await runNode(text)]).toEqual(await hostedActions([JSON.parse(shown)]))
    for (const [index, observation] of observations.entries()) {
      expect(await runNode(text.replace(shown, JSON.stringify(observation)))).toBe(hosted[index])
    }
  })

  it('the installed model gives the same action', async () => {
    const text = snippet('Node.js')
    expect([await runNode(text)]).toEqual(await hostedActions([[0, 0, 0, 0]]))
    for (const [index, observation] of observations.entries()) {
      const seeing = text.replace('new Float32Array(4)', `new Float32Array(${JSON.stringify(observation)})`)
      expect(seeing).not.toBe(text)
      expect(await runNode(seeing)).toBe(hosted[index])
    }
  })

  it('the MCP server gives the same action to a client that is configured with it', async () => {
    const [{ command, args, env }] = Object.values<McpEntry>(JSON.parse(snippet('MCP server')).mcpServers)
    // Where the command is installed, it is on the PATH.
    const inherited = { PATH: `${repositoryRoot}:${process.env.PATH}`, AGENTGYM_HOME: join(folder, 'buyer') }
    const client = new McpClient({ name: 'a test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(
      new StdioClientTransport({
        command,
        args,
        env: { ...inherited, ...env, AGENTGYM_TOKEN: author.token },
        cwd: '/',
      }),
    )
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['decide-acme_balancer'])
    for (const [index, observation] of observations.entries()) {
      const answer = await client.callTool({ name: tools[0].name, arguments: { observation } })
      expect(answer.structuredContent).toMatchObject({ action: hosted[index] })
    }
    await client.close()
  })

  it('the MCP endpoint of the hosted agent gives it, too', async () => {
    const [{ url, headers }] = Object.values<{ url: string; headers: Record<string, string> }>(
      JSON.parse(snippet('MCP endpoint')).mcpServers,
    )
    const Authorization = headers.Authorization.replace(/\$\{AGENTGYM_TOKEN\}/, author.token)
    const client = new McpClient({ name: 'a test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization } } }),
    )
    const [{ name: tool }] = (await client.listTools()).tools
    for (const [index, observation] of observations.entries()) {
      const answer = await client.callTool({ name: tool, arguments: { observation } })
      expect(answer.structuredContent).toMatchObject({ action: hosted[index] })
    }
    await client.close()
  })

  it("OpenAI's client lists the agent, reads a stream, and distinguishes errors", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: author.token, maxRetries: 0 })
    const models: string[] = []
    for await (const { id } of client.models.list()) models.push(id)
    expect(models).toEqual([name])
    const messages = [{ role: 'user' as const, content: JSON.stringify(observations[0]) }]
    let said = ''
    for await (const { choices } of await client.chat.completions.create({ model: name, messages, stream: true }))
      said += choices[0]?.delta.content ?? ''
    expect(JSON.parse(said).action).toBe(hosted[0])
    const blind = client.chat.completions.create({ model: name, messages: [{ role: 'user', content: '[1]' }] })
    await expect(blind).rejects.toBeInstanceOf(OpenAI.UnprocessableEntityError)
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'no token', maxRetries: 0 })
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError)
    await expect(client.chat.completions.create({ model: '@acme/nobody', messages })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    )
  })
})

if (isLong)
  describe('in Python', { timeout: 600_000 }, () => {
    const tools = join(folder, 'tools')
    const crewai = join(folder, 'crewai')
    const seen = JSON.stringify(observations)
    beforeAll(async () => {
      await makeEnvironment(tools, 'snippets')
      await makeEnvironment(crewai, 'crewai')
      writeFileSync(join(work, 'agent.py'), snippet('Python'))
    }, 1_200_000)

    it.each(['OpenAI client in Python', 'LangChain model'])('%s gets the action of the agent', async (title) => {
      const text = snippet(title)
      const [, shown] = /^observation = (.*)/m.exec(text) ?? []
      expect([await runPython(tools, text)]).toEqual(await hostedActions([JSON.parse(shown)]))
      for (const [index, observation] of observations.entries()) {
        expect(await runPython(tools, text.replace(shown, JSON.stringify(observation)))).toBe(hosted[index])
      }
    })

    it.each([
      ['Python', tools, 'from agent import act', 'act(observation)'],
      ['LangChain tool', tools, null, 'act_tool.invoke({parameter: observation})'],
      ['AutoGen tool', tools, null, 'asyncio.run(act_tool.run_json({parameter: observation}, CancellationToken()))'],
      ['CrewAI tool', crewai, null, 'act_tool.run(**{parameter: observation})'],
    ])('%s gives the same action', async (title, environment, text, call) => {
      const lines = [
        ...[text ?? snippet(title), 'import asyncio, inspect, json'],
        ...(title.startsWith('AutoGen') ? ['from autogen_core import CancellationToken'] : []),
        '(parameter,) = inspect.signature(act).parameters',
        `print(json.dumps([${call} for observation in ${seen}]))`,
      ]
      expect(await runPython(environment, lines.join('\n'))).toEqual(hosted)
    })
  })

async function trainAgent(client: Client): Promise<void> {
  const isPublished = (of: string, version: string) => async () =>
    ((await (await client.send(versionPath(of, version))).json()) as { state: string }).state === 'published'
  await publishPackage(client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))
  await until(isPublished('@acme/cart-pole', '1.0.0'))
  const request = {
    scenario: '@acme/cart-pole',
    steps: 4_096,
    settings,
    publish: { name, summary: 'Balances the pole.' },
  }
  const { id } = (await (await client.send('/v1/runs', post(request))).json()) as Run
  const lookUp = async () => (await (await client.send(`/v1/runs/${id}`)).json()) as Run
  await until(async () => !['queued', 'running'].includes((await lookUp()).state))
  expect(await lookUp()).toMatchObject({ state: 'completed' })
  await until(isPublished(name, '0.1.0'))
}

/** Snippets by title, as copied from the page. */
function readSnippets(page: string): Map<string, string> {
  const found = page.matchAll(/<h3 class="package-label">(.*?)<\/h3>.*?<code>(.*?)<\/code>/gs)
  return new Map([...found].map(([, title, text]) => [unescapeHtml(title), unescapeHtml(text)]))
}

function unescapeHtml(html: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return html.replace(/&(?:#(\d+)|(\w+));/g, (_, code, entity) => named[entity] ?? String.fromCodePoint(Number(code)))
}

function snippet(start: string): string {
  const found = [...snippets].filter(
    ([title]) => title.startsWith(start) && /^(?: \(|, |$)/.test(title.slice(start.length)),
  )
  if (found.length !== 1) throw new Error(`${found.length} snippets are titled ${start}`)
  return found[0][1]
}

function hostedActions(seen: unknown[]): Promise<unknown[]> {
  return Promise.all(
    seen.map(async (observation) => {
      const response = await author.client.send(`${packagePath(name)}/calls`, post({ observation }))
      return ((await response.json()) as HostedCall).action
    }),
  )
}

/** A library as this repository has it. */
function link(library: string, installed: string): void {
  symlinkSync(join(repositoryRoot, installed), join(work, 'node_modules', library))
}

/** Runs a program where the stranger works; gives what it says. */
async function run(program: string, words: string[]): Promise<string> {
  const { AGENTGYM_SERVER, DATABASE_URL, ...inherited } = process.env
  const env = {
    ...inherited,
    AGENTGYM_TOKEN: author.token,
    PYTHONDONTWRITEBYTECODE: '1',
    CREWAI_DISABLE_TELEMETRY: '1',
    AGENTGYM_HOME: join(folder, 'home'),
  }
  return (await promisify(execFile)(program, words, { cwd: work, env, maxBuffer: 64 * 1024 * 1024 })).stdout
}

async function runNode(text: string): Promise<unknown> {
  writeFileSync(join(work, 'snippet.js'), text)
  return JSON.parse(await run(process.execPath, ['snippet.js']))
}

async function runPython(environment: string, text: string): Promise<unknown> {
  writeFileSync(join(work, 'snippet.py'), text)
  return JSON.parse(await run(join(environment, 'bin/python'), ['snippet.py']))
}

/** A virtual environment with what `infra/setup/python/PINS.txt` pins, and our package, which is installed here. */
async function makeEnvironment(environment: string, pins: string): Promise<void> {
  await makePythonEnvironment(environment, join(repositoryRoot, 'infra/setup/python', `${pins}.txt`))
  const own = `${environment}-source`
  cpSync(join(repositoryRoot, 'sdk/python'), own, { recursive: true })
  await run(join(environment, 'bin/pip'), ['install', '--quiet', '--no-deps', own])
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(200)
}

function post(body: object): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
