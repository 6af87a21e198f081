// @module-tag full
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Decision, loadAgent } from '@agentgym/agent'
import { writeReadme } from '@agentgym/testkit/command-line'
import { pythonEnvironment, pythonSource, runPython } from '@agentgym/testkit/python'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { done } from './market-people.ts'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

const agent = '@ann/puck-ppo'
const free = '@ann/puck-free'
const observation = [0.5, -0.25]

let python: string
let registry: Registry
let [ann, bob, carol]: Person[] = []
beforeAll(async () => {
  python = await pythonEnvironment('agent')
  registry = await openRegistry()
  ;[ann, bob, carol] = ['ann', 'bob', 'carol'].map((name) => registry.person(name))
  for (const person of [ann, bob, carol]) await person.join()
  await done(ann, ['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'])
  writeReadme(join(ann.work, 'puck'))
  await done(ann, ['scenario', 'publish', 'puck'])
  await done(ann, ['train', '@ann/puck', '--steps', '4096', '--set', 'evaluation_episodes=20'])
  await done(ann, ['agent', 'publish', 'puck', '--name', free, '--summary', 'Holds the puck.'])
  await done(ann, ['agent', 'publish', 'puck', '--name', agent, '--summary', 'Holds the puck.'])
  // Before anyone has it: a price of what others use is announced first.
  writeFileSync(join(ann.work, 'terms.txt'), 'One product.')
  await done(ann, ['price', agent, '12.50', '--terms', 'terms.txt', '--yes'])
}, 600_000)
afterAll(() => registry?.close())
afterEach(() => void vi.unstubAllEnvs())

type Loaded = {
  package?: { name: string; version: string }
  decision?: Decision
  error?: { code: string; message: string; hint: string; data: Record<string, unknown> }
  /** The last word of the progress. */
  received: [bytes: number, total: number | null][]
}

/** What a Python program of a person gets, which loads the agent and lets it act. */
async function inPython(person: Person, load: object = {}, environment: NodeJS.ProcessEnv = {}): Promise<Loaded> {
  const script = join(pythonSource, '../tests/load_and_act.py')
  const own = { AGENTGYM_HOME: person.home, AGENTGYM_TOKEN: '', AGENTGYM_SERVER: '', ...environment }
  const request = JSON.stringify({ load: { source: agent, ...load }, observation })
  return JSON.parse(await runPython(python, [script, request], { environment: own, cwd: person.work }))
}

/** The same in TypeScript. */
async function inTypeScript(person: Person, name = agent): Promise<Decision> {
  vi.stubEnv('AGENTGYM_HOME', person.home)
  vi.stubEnv('AGENTGYM_SERVER', registry.server.url)
  const loaded = await loadAgent(name, { offline: true })
  const decision = loaded.act(observation)
  loaded.dispose()
  return decision
}

/** A server before the registry, which may change what it answers; and what it was sent. */
async function standBefore(
  change: (path: string, body: Buffer) => Buffer | { location: string },
): Promise<{ url: string; server: Server; headers: Map<string, IncomingHttpHeaders> }> {
  const headers = new Map<string, IncomingHttpHeaders>()
  const server = createServer(async ({ url = '', headers: sent }, response) => {
    headers.set(url, sent)
    const { authorization = '' } = sent
    const answer = await fetch(`${registry.server.url}${url}`, { headers: authorization ? { authorization } : {} })
    const changed = change(url, Buffer.from(await answer.arrayBuffer()))
    if (Buffer.isBuffer(changed)) response.writeHead(answer.status).end(changed)
    else response.writeHead(302, changed).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, headers }
}

describe('Python loads an agent of a registry', { timeout: 300_000 }, () => {
  it('that is free, without an account, and keeps it for TypeScript and the command', async () => {
    const server = registry.server.url
    const loaded = await inPython(carol, { source: free, server })
    expect(loaded).toMatchObject({ package: { name: free, version: '0.1.0' }, decision: { state: null } })
    const [[bytes, total]] = loaded.received
    expect(total === null || total === bytes).toBe(true)
    expect(loaded.decision).toEqual(await inTypeScript(carol, free))
    // Downloaded once.
    expect((await inPython(carol, { source: `${free}@^0.1`, server })).received).toEqual([])
    expect(readdirSync(join(carol.home, 'packages'))).toHaveLength(1)
  })

  it('only after it was bought, where it has a price', async () => {
    const { error } = await inPython(bob)
    expect(error).toMatchObject({ code: 'payment_required', data: { status: 402 } })
    expect(error?.message).toContain('agentgym buy @ann/puck-ppo')
    await done(bob, ['balance', 'top-up', '20'])
    await done(bob, ['buy', agent, '--yes'])
    // The token of `agentgym login` proves it, and goes to no other server.
    const loaded = await inPython(bob)
    expect(loaded.decision).toEqual(await inTypeScript(bob))
    expect(await inPython(bob, { source: '@ann/other' })).toMatchObject({ error: { code: 'package_not_found' } })
    expect(await inPython(bob, { source: `${agent}@^7` })).toMatchObject({
      error: { code: expect.stringMatching(/not_found/) },
    })
  })

  it('but no other bytes than the registry recorded', async () => {
    const { server, url } = await standBefore((path, body) =>
      path.startsWith('/npm/') ? Buffer.concat([body, Buffer.alloc(1)]) : body,
    )
    const home = join(carol.root, 'elsewhere')
    const { error } = await inPython({ ...carol, home }, { server: url, token: bob.storedToken() })
    expect(error).toMatchObject({ code: 'integrity_mismatch' })
    expect(error?.message).toContain(`${agent}@0.1.0`)
    server.close()
  })

  it('from where the server redirects to, without showing the token there', async () => {
    const store = await standBefore((_, body) => body)
    const { server, url, headers } = await standBefore((path, body) =>
      path.startsWith('/npm/') ? { location: `${store.url}${path}` } : body,
    )
    const home = join(carol.root, 'redirected')
    const loaded = await inPython({ ...carol, home }, { server: url, token: bob.storedToken() })
    const [[tarball, sent]] = store.headers
    expect(tarball).toMatch(/^\/npm\/.*\.tgz$/)
    expect(sent.authorization).toBeUndefined()
    expect(headers.get(tarball)?.authorization).toBe(`Bearer ${bob.storedToken()}`)
    // The registry wants the token for this one: redirects of a real store are signed.
    expect(loaded.error).toMatchObject({ code: 'payment_required' })
    for (const each of [server, store.server]) each.close()
  })

  it('again where files on the machine are damaged', async () => {
    const [folder] = readdirSync(join(bob.home, 'packages'))
    writeFileSync(join(bob.home, 'packages', folder, 'model.onnx'), 'damaged')
    const loaded = await inPython(bob)
    expect(loaded.decision).toBeDefined()
    expect(loaded.received).toHaveLength(1)
  })

  it('as agentgym.lock has it, without a server; and otherwise the newest on the machine', async () => {
    await done(bob, ['install', agent])
    const { decision } = await inPython(bob)
    await registry.server.stop()
    expect((await inPython(bob)).decision).toEqual(decision)
    // Carol has no lock file: the server is asked first.
    const { url: server } = registry.server
    expect((await inPython(carol, { source: free, server })).decision).toEqual(decision)
    expect((await inPython(carol, { source: free, server, offline: true })).decision).toEqual(decision)
    const message = `${free}@^2 is not on this machine, and ${server} does not answer.`
    expect(await inPython(carol, { source: `${free}@^2`, server })).toMatchObject({
      error: { code: 'server_unreachable', message },
    })
  })
})
