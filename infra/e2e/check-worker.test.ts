import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { type Client, leaseJob, publishPackage, sendHeartbeat, sendResult, versionPath } from '@agentgym/client'
import type { LeasedCheck } from '@agentgym/contract'
import { runWorker, type WorkerEvent } from '@agentgym/runtime'
import { runCli } from '@agentgym/testkit/command-line'
import { type PackedScenario, packScenario } from '@agentgym/testkit/packages'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { startServer, type TestServer } from '@agentgym/testkit/server'
import { fullTier } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../registry/src/core/database/database.ts'
import { openDatabase } from '../../registry/src/core/database/open-database.ts'

let server: TestServer
let replica: TestServer
let database: Database
let operator: { client: Client; token: string }
let author: { client: Client; token: string }

beforeAll(async () => {
  const url = await createPostgresqlDatabase()
  database = await openDatabase({ url })
  server = await startServer({ environment: { DATABASE_URL: url } })
  replica = await startServer({ data: server.data, environment: { DATABASE_URL: url } })
  // Who signs up first operates the installation.
  operator = await server.signUp('operator', ['worker'])
  author = await server.signUp('acme')
})
afterAll(async () => {
  await replica.remove()
  await server.remove()
  await database.close()
})

type Version = { state: string; checks: { id: string; ok: boolean; message: string }[] }

async function versionOf(client: Client, { name, version }: PackedScenario): Promise<Version> {
  return (await (await client.send(versionPath(name, version))).json()) as Version
}

/** As if every worker at work had been silent for two minutes. */
async function expireLeases(): Promise<void> {
  await database.execute(`update jobs set leased_until = now() - interval '1 minute' where state = 'leased'`)
}

/** Runs a worker until it has done with one job; gives what it told. */
async function workOnce(token = operator.token): Promise<WorkerEvent[]> {
  const events: WorkerEvent[] = []
  const stop = new AbortController()
  const onEvent = (event: WorkerEvent) => {
    events.push(event)
    if (['finished', 'lost', 'failed'].includes(event.event)) stop.abort()
  }
  // Uploads go to one server, workers ask the other.
  await runWorker({ server: replica.url, token, kinds: ['check'], stop: stop.signal, onEvent, pollMs: 100 })
  return events
}

describe('a published scenario', () => {
  it('is checked by a worker, and listed for others once it has passed', async () => {
    const packed = await packScenario('cart-pole', { name: '@acme/cart-pole' })
    const progress: number[] = []
    const published = await publishPackage(author.client, { ...packed, onProgress: (sent) => progress.push(sent) })
    expect(published).toMatchObject({ name: '@acme/cart-pole', version: '1.0.0', state: 'checking' })
    expect(progress.at(-1)).toBe(packed.tarball.length)
    const stranger = (await server.signUp('stranger')).client
    await expect(versionOf(stranger, packed)).rejects.toMatchObject({ code: expect.stringMatching(/_not_found$/) })

    const events = await workOnce()
    expect(events.map(({ event }) => event)).toContain('leased')
    expect(events.at(-1)).toMatchObject({ subject: '@acme/cart-pole@1.0.0', ok: true, failed: [] })
    const version = await versionOf(stranger, packed)
    expect(version.state).toBe('published')
    const messages = Object.fromEntries(version.checks.map(({ id, message }) => [id, message]))
    expect(messages.baselines).toMatch(/random actions return \d+/)
    expect(messages.speed).toMatch(/environment steps a second/)
    const { data: sample } = await stranger.GET('/v1/packages/{scope}/{name}/versions/{version}/sample-episode', {
      params: { path: { scope: '@acme', name: 'cart-pole', version: '1.0.0' } },
    })
    expect(sample).toMatchObject({ policy: 'random', view: { kind: 'cart' }, end: 'terminated' })
    expect(sample?.steps[0].observation).toHaveLength(4)
  })

  it('is rejected with the failed check and its fix, and stays hidden', async () => {
    const broken = await packScenario('cart-pole', {
      name: '@acme/unsteady',
      change: (source) =>
        `let calls = 0\n${source.replace(/observe\(([^)]*)\) \{/, 'observe($1) { if (++calls > 50) return [NaN, 0, 0, 0];')}`,
    })
    await publishPackage(author.client, broken)
    expect((await workOnce()).at(-1)).toMatchObject({
      event: 'finished',
      ok: false,
      failed: expect.arrayContaining(['observations']),
    })
    const version = await versionOf(author.client, broken)
    expect(version.state).toBe('rejected')
    expect(version.checks.find(({ id }) => id === 'observations')?.message).toMatch(/NaN/)
    await expect(versionOf((await server.signUp('onlooker')).client, broken)).rejects.toThrow()
    await expect(
      publishPackage(author.client, await packScenario('cart-pole', { name: '@acme/unsteady' })),
    ).rejects.toMatchObject({
      code: 'version_exists',
    })
  })

  it('is refused as a patch that plays differently than the version before it, and accepted as a minor version', {
    tags: fullTier,
  }, async () => {
    const name = '@acme/steady'
    const change = (source: string) => source.replace('PUSH_FORCE = 10', 'PUSH_FORCE = 11')
    const publish = async (version: string, changed?: typeof change) => {
      const packed = await packScenario('cart-pole', { name, version, ...(changed ? { change: changed } : {}) })
      await publishPackage(author.client, packed)
      const end = (await workOnce()).at(-1)
      const { state, checks } = await versionOf(author.client, packed)
      return { end, state, message: checks.find(({ id }) => id === 'version')?.message ?? '' }
    }
    expect(await publish('1.0.0')).toMatchObject({
      state: 'published',
      message: expect.stringMatching(/nothing to compare/),
    })
    const patch = await publish('1.0.1', change)
    expect(patch).toMatchObject({ state: 'rejected', end: { ok: false, failed: ['version'] } })
    expect(patch.message).toMatch(
      /1\.0\.1 is a patch of 1\.0\.0, and plays differently: observation\[1\].*minor version.*scenario diff @acme\/steady@1\.0\.0/,
    )
    expect(await publish('1.0.2')).toMatchObject({
      state: 'published',
      message: expect.stringMatching(/the same as in 1\.0\.0/),
    })
    expect(await publish('1.1.0', change)).toMatchObject({ state: 'published' })
  })

  it('is checked by another worker if one is gone, and the first one’s result is refused', async () => {
    const packed = await packScenario('cart-pole', { name: '@acme/second-chance' })
    await publishPackage(author.client, packed)
    const zombie = (await leaseJob(operator.client, { kinds: ['check'] }))?.job as LeasedCheck
    expect(zombie.package).toMatchObject({ name: packed.name, version: packed.version })
    expect((await sendHeartbeat(operator.client, zombie)).leaseMs).toBeGreaterThan(30_000)
    expect(await leaseJob(operator.client, { kinds: ['check'] })).toBeUndefined()

    await expireLeases()
    expect((await workOnce()).at(-1)).toMatchObject({ event: 'finished', ok: true })
    const report = {
      ok: false,
      name: packed.name,
      version: packed.version,
      checks: [{ id: 'steps', ok: false, message: 'late' }],
    }
    await expect(sendResult(operator.client, zombie, report)).rejects.toMatchObject({ code: 'lease_lost' })
    await expect(sendHeartbeat(operator.client, zombie)).rejects.toMatchObject({ code: 'lease_lost' })
    expect((await versionOf(author.client, packed)).state).toBe('published')
  })
})

describe('a worker', () => {
  it('that is killed loses nothing: another one does the job', async () => {
    const packed = await packScenario('cart-pole', { name: '@acme/survivor' })
    await publishPackage(author.client, packed)
    const script = path.join(import.meta.dirname, '../../testkit/src/worker.process.ts')
    const child = spawn(process.execPath, [script, server.url, operator.token], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) if (line.includes('"leased"')) break
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect((await versionOf(author.client, packed)).state).toBe('checking')
    await expireLeases()
    expect((await workOnce()).at(-1)).toMatchObject({ event: 'finished', subject: '@acme/survivor@1.0.0', ok: true })
    expect((await versionOf(author.client, packed)).state).toBe('published')
  })

  it('needs a worker token', async () => {
    await expect(workOnce(author.token)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(workOnce('agt_unknown')).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  it('waits for an unreachable server, and stops on a signal', async () => {
    const stop = new AbortController()
    const seen: string[] = []
    await runWorker({
      server: 'http://127.0.0.1:9',
      token: 'agt_any',
      stop: stop.signal,
      onEvent: ({ event }) => {
        seen.push(event)
        stop.abort()
      },
    })
    expect(new Set(seen)).toEqual(new Set(['unreachable']))
  })
})

it('a worker that an engine started for one job ends when the queue is empty', async () => {
  const words = ['worker', '--server', replica.url, '--kinds', 'check', '--exit-when-idle', '1', '--json']
  const { status, lines } = await runCli(words, {
    cwd: server.data,
    environment: { AGENTGYM_TOKEN: operator.token, AGENTGYM_WITHOUT_WALLS: 'any' },
  })
  expect([status, lines.at(-1)]).toEqual([0, { event: 'waiting' }])
})
