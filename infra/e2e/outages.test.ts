// @module-tag full

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Line, openLine } from '@agentgym/testkit/line'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { freePort } from '@agentgym/testkit/ports'
import { runPostgresql, startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import { type Answer, callAt } from '@agentgym/testkit/registry'
import { runFolder } from '@agentgym/testkit/run-folder'
import { startS3, type TestS3 } from '@agentgym/testkit/s3'
import { startServer } from '@agentgym/testkit/server'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseExposition } from '../../registry/src/app/testing/parse-exposition.ts'

/** A crash loses no commit, such as that of the token, however soon it comes. */
const durable = ['synchronous_commit=on']

// A whole server on a PostgreSQL and a bucket of its own, behind lines that can be cut.
let folder: string
let toDatabase: Line
let s3: TestS3
let toBucket: Line
let environment: Record<string, string>
let site: TestSite
let token: string
let operator: string

const environmentOf = (port: number): Record<string, string> => ({
  DATABASE_URL: `postgresql://agentgym@127.0.0.1:${port}/postgres`,
  AGENTGYM_S3_BUCKET: s3.address.bucket,
  AGENTGYM_S3_ENDPOINT: `http://127.0.0.1:${toBucket.port}`,
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
})

beforeAll(async () => {
  folder = join(runFolder(), 'postgresql-to-stop')
  await startPostgresql(folder, durable)
  toDatabase = await openLine({ path: join(folder, '.s.PGSQL.5432') })
  s3 = await startS3()
  toBucket = await openLine({ host: '127.0.0.1', port: Number(new URL(s3.address.endpoint).port) })
  environment = environmentOf(toDatabase.port)
  // The SDK reads credentials from the process's environment alone.
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' })
  site = await openTestSite({ environment, databaseUrl: environment.DATABASE_URL })
  token = (await signUpAt(site.url, 'acme')).token
  const browser = await site.browserOf('operator')
  operator = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
})
afterAll(async () => {
  await site.close()
  await Promise.all([toDatabase.close(), toBucket.close(), s3.stop(), stopPostgresql(folder)])
})

const call = (method: string, path: string, more = {}) => callAt(site.url, method, path, more)
const readiness = async (url = site.url) => {
  const { status, body } = await callAt(url, 'GET', '/readyz')
  return { status, down: body.down }
}
async function metric(name: string, dependency: string): Promise<number | undefined> {
  const families = parseExposition((await call('GET', '/metrics')).text)
  const samples = [...families.values()].flatMap((family) => family.samples)
  return samples.find((sample) => sample.name === name && sample.labels.dependency === dependency)?.value
}
function expectUnavailable({ status, code, headers, text }: Answer, named: string): void {
  expect({ status, code, text }).toMatchObject({ status: 503, code: `${named}_unavailable` })
  expect(headers.get('retry-after')).toBe('5')
}

/** Requests to every route that the server describes, with values that are at least of the right form. */
async function everyRoute(): Promise<{ method: string; path: string }[]> {
  const { paths } = (await call('GET', '/v1/openapi.json')).body as { paths: Record<string, object> }
  const values: Record<string, string> = { scope: '@acme', name: 'maze', version: '1.0.0' }
  const filled = (path: string) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? '3b241101-e2bb-4255-8caf-4136c566a962')
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: filled(path) })),
  )
}

describe('PostgreSQL is stopped', () => {
  const open = new Set(['/healthz', '/readyz', '/metrics', '/v1/openapi.json'])
  let routes: Awaited<ReturnType<typeof everyRoute>>
  beforeAll(async () => {
    routes = await everyRoute()
    await stopPostgresql(folder)
  })
  afterAll(() => runPostgresql(folder, durable))

  it('every route answers 503 to a token, names the database, and says when to try again', async () => {
    expect(routes.length).toBeGreaterThan(100)
    for (const { method, path } of routes.filter((route) => !open.has(route.path))) {
      const json = method === 'GET' || method === 'DELETE' ? undefined : {}
      expectUnavailable(await call(method, path, { token, json }), 'database')
    }
  })

  it('no route fails as a bug without a token or with a session', async () => {
    for (const cookie of [undefined, operator])
      for (const { method, path } of routes) {
        const json = method === 'GET' || method === 'DELETE' ? undefined : {}
        const answer = await call(method, path, { cookie, json })
        expect(answer.status === 503 || answer.status < 500, `${method} ${path}: ${answer.text}`).toBe(true)
      }
  })

  it('npm, chat completions, JSON-RPC and leases report it in their own formats', async () => {
    const packument = await call('GET', '/npm/@acme%2fmaze')
    expectUnavailable(packument, 'database')
    expect(packument.body.error).toContain('The database of this server is unavailable.')
    expectUnavailable(await call('GET', '/npm/@acme/maze/-/maze-1.0.0.tgz'), 'database')
    expectUnavailable(await call('PUT', '/npm/@acme%2fmaze', { token, json: {} }), 'database')
    expectUnavailable(await call('POST', '/v1/jobs/lease', { token, json: { kinds: ['check'] } }), 'database')
    expectUnavailable(await call('POST', '/rpc', { token, json: {} }), 'database')
    const chat = { model: '@acme/agent', messages: [] }
    expectUnavailable(await call('POST', '/v1/chat/completions', { token, json: chat }), 'database')
  })

  it('pages show it', async () => {
    const stranger = site.browser()
    for (const path of ['/', '/packages', '/packages/@acme/maze']) {
      const page = await stranger.get(path)
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5'])
      expect(page.text).toContain('Temporarily unavailable')
      expect(page.text).toContain('The database of this server is unavailable.')
    }
    const known = await fetch(`${site.url}/settings`, { headers: { cookie: operator }, redirect: 'manual' })
    expect(known.status).toBe(503)
    const patterns = site.patterns().filter(({ method }) => method === 'get')
    for (const { path } of patterns) {
      const page = await stranger.get(path.replaceAll(/:(\w+)(\{[^}]*\})?\??/g, '$1'))
      expect(page.status === 503 || page.status < 500, `${path}: ${page.status}`).toBe(true)
    }
  })

  it('probes, metrics', async () => {
    expect((await call('GET', '/healthz')).status).toBe(200)
    expect(await readiness()).toEqual({ status: 503, down: ['database'] })
    expect(await metric('agentgym_dependency_up', 'database')).toBe(0)
    expect(await metric('agentgym_dependency_up', 'storage')).toBe(1)
    expect(await metric('agentgym_dependency_errors_total', 'database')).toBeGreaterThan(200)
  })
})

it('recovers once PostgreSQL is back, with all of its connections', async () => {
  await expect.poll(() => readiness(), { timeout: 20_000 }).toEqual({ status: 200, down: [] })
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('GET', '/v1/account', { token })))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(await metric('agentgym_dependency_up', 'database')).toBe(1)
})

it('restarts and cut connections fail requests only with 503', async () => {
  const statuses = new Map<number, number>()
  let over = false
  const askers = Array.from({ length: 6 }, async () => {
    while (!over) {
      const { status, code } = await call('GET', '/v1/account', { token })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (status !== 200) expect([status, code]).toEqual([503, 'database_unavailable'])
      await delay(5)
    }
  })
  await delay(300)
  toDatabase.set('closed')
  await delay(300)
  toDatabase.set('works')
  await delay(300)
  await stopPostgresql(folder)
  await runPostgresql(folder, durable)
  await expect.poll(() => readiness(), { timeout: 20_000 }).toEqual({ status: 200, down: [] })
  over = true
  await Promise.all(askers)
  expect([...statuses.keys()].toSorted()).toEqual([200, 503])
})

it('an unresponsive database causes 503 within the request limit, and recovery works', async () => {
  await call('GET', '/v1/account', { token })
  toDatabase.set('silent')
  const startedMs = performance.now()
  // The first takes the open connection, on which nothing comes back; some wait for one to be made.
  const answers = await Promise.all(Array.from({ length: 12 }, () => call('GET', '/v1/account', { token })))
  expect((performance.now() - startedMs) / 1_000).toBeLessThan(45)
  for (const answer of answers) expectUnavailable(answer, 'database')
  toDatabase.set('works')
  await expect.poll(() => readiness(), { timeout: 60_000, interval: 500 }).toEqual({ status: 200, down: [] })
  await expect.poll(async () => (await call('GET', '/v1/account', { token })).status, { timeout: 60_000 }).toBe(200)
}, 180_000)

describe('the bucket is down', () => {
  let tarball: Uint8Array<ArrayBuffer>
  const publish = (name: string) =>
    call('PUT', `/v1/packages/@acme/${name}/versions/1.0.0`, {
      token,
      content: tarball,
      headers: { 'content-type': 'application/octet-stream' },
    })
  beforeAll(async () => {
    tarball = Buffer.from((await packScenario('cart-pole', { name: '@acme/pole' })).tarball)
  })

  it('dependent requests get 503, all others work, and recovery works', async () => {
    await s3.pause()
    expectUnavailable(await publish('pole'), 'storage')
    expect((await call('GET', '/v1/packages')).status).toBe(200)
    expect((await site.browser().get('/packages')).status).toBe(200)
    expect(await readiness()).toEqual({ status: 503, down: ['storage'] })
    expect((await call('GET', '/healthz')).status).toBe(200)
    expect(await metric('agentgym_dependency_up', 'storage')).toBe(0)
    expect(await metric('agentgym_dependency_errors_total', 'storage')).toBeGreaterThan(0)
    await s3.resume()
    // The failed upload has not used up the version.
    expect((await publish('pole')).status).toBe(202)
    expect(await readiness()).toEqual({ status: 200, down: [] })
    await s3.pause()
    expectUnavailable(await call('GET', '/npm/@acme/pole/-/pole-1.0.0.tgz', { token }), 'storage')
    expect((await call('GET', '/npm/@acme%2fpole', { token })).status).toBe(200)
    await s3.resume()
    expect((await call('GET', '/npm/@acme/pole/-/pole-1.0.0.tgz', { token })).status).toBe(200)
  })

  it('an unresponsive bucket does not block requests for long', async () => {
    toBucket.set('silent')
    expect(await readiness()).toEqual({ status: 503, down: ['storage'] })
    expectUnavailable(await call('GET', '/npm/@acme/pole/-/pole-1.0.0.tgz', { token }), 'storage')
    expect((await call('GET', '/v1/packages')).status).toBe(200)
    toBucket.set('closed')
    expectUnavailable(await call('GET', '/npm/@acme/pole/-/pole-1.0.0.tgz', { token }), 'storage')
    toBucket.set('works')
    expect((await call('GET', '/npm/@acme/pole/-/pole-1.0.0.tgz', { token })).status).toBe(200)
  }, 60_000)
})

describe('a server that starts', () => {
  it('while the bucket is down serves, reports it in /readyz, and becomes ready', async () => {
    await s3.pause()
    const server = await startServer({ environment })
    expect((await callAt(server.url, 'GET', '/healthz')).status).toBe(200)
    expect(await readiness(server.url)).toEqual({ status: 503, down: ['storage'] })
    expect((await callAt(server.url, 'GET', '/v1/packages')).status).toBe(200)
    await s3.resume()
    expect(await readiness(server.url)).toEqual({ status: 200, down: [] })
    await server.remove()
  })

  it('while PostgreSQL is down answers 503 until it is up', async () => {
    await stopPostgresql(folder)
    const port = await freePort()
    const starting = startServer({ environment, port })
    const url = `http://localhost:${port}`
    const ready = () => readiness(url).catch(() => undefined)
    await expect.poll(ready, { timeout: 10_000 }).toEqual({ status: 503, down: ['database'] })
    expect((await callAt(url, 'GET', '/healthz')).status).toBe(200)
    expectUnavailable(await callAt(url, 'GET', '/v1/packages'), 'database')
    await runPostgresql(folder, durable)
    const server = await starting
    expect(await readiness(url)).toEqual({ status: 200, down: [] })
    await server.remove()
  })

  it('gives up on PostgreSQL after a while, and immediately if waiting does not help', async () => {
    await stopPostgresql(folder)
    const waiting = { ...environment, AGENTGYM_DATABASE_WAIT_SECONDS: '1' }
    await expect(startServer({ environment: waiting })).rejects.toMatchObject({
      code: 'database_unavailable',
      message: expect.stringMatching(/Tried for 1 s\.$/),
    })
    await runPostgresql(folder, durable)
    const missing = { ...environment, DATABASE_URL: environment.DATABASE_URL.replace('/postgres', '/nowhere') }
    const startedMs = performance.now()
    await expect(startServer({ environment: missing })).rejects.toMatchObject({ code: 'database_unavailable' })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })
})
