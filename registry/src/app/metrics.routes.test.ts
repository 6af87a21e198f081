import { type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../core/database/database.ts'
import { createRoutes } from '../core/http/route.ts'
import type { ServerConfig } from '../core/services.ts'
import { parseExposition } from './testing/parse-exposition.ts'

let database: Database
const apps: ServedApp[] = []
beforeAll(async () => {
  database = await postgresql.open()
})
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()))
})
afterAll(async () => {
  await database.close()
})

async function serveWith(config: Partial<ServerConfig> = {}, given = database): Promise<ServedApp> {
  const app = await serveApp(given, [room()], config)
  apps.push(app)
  return app
}

function room() {
  return createRoutes()
    .get('/v1/things/:id', (c) => c.json({ id: c.req.param('id') }))
    .post('/v1/things/:id', (c) => c.json({ id: c.req.param('id') }, 201))
    .get('/v1/things/special', (c) => c.json({}))
    .get('/v1/bug', () => {
      throw new Error('a bug')
    })
}

/** As `fetch`, and with the header Host that a client likes to send. */
async function get(app: ServedApp, headers: OutgoingHttpHeaders = {}): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  request(`${app.url}/metrics`, { headers }, async (answer) =>
    resolve({ status: answer.statusCode ?? 0, body: await text(answer) }),
  )
    .on('error', reject)
    .end()
  return promise
}

const counts = async (app: ServedApp) => {
  const { body } = await get(app)
  const samples = parseExposition(body).get('http_requests_total')?.samples ?? []
  return Object.fromEntries(
    samples.map(({ labels, value }) => [`${labels.method} ${labels.route} ${labels.status}`, value]),
  )
}

describe('access to /metrics', () => {
  const token = 'a-token-of-the-operator'
  const refused = { status: 401, body: expect.stringContaining('AGENTGYM_METRICS_TOKEN') }
  const readable = { status: 200, body: expect.stringContaining('http_requests_total') }

  it('allows requests from this machine', async () => {
    const app = await serveWith()
    expect(await get(app)).toEqual(readable)
    expect(await get(app, { host: `127.0.0.1:${new URL(app.url).port}` })).toEqual(readable)
    expect(await get(app, { host: '[::1]' })).toEqual(readable)
  })

  it.each<[string, OutgoingHttpHeaders]>([
    ['a proxy on this machine passed on', { 'x-forwarded-for': '203.0.113.9' }],
    ['a proxy passed on that claims to come from here', { 'x-forwarded-for': '127.0.0.1' }],
    ['another kind of proxy passed on', { forwarded: 'for=203.0.113.9' }],
    ['a proxy passed on that tells little', { via: '1.1 edge' }],
    ['came under the public name', { host: 'gym.example.com' }],
    ['came under a name that only begins as ours', { host: 'localhost.example.com' }],
    ['a page led a browser here for', { host: 'rebound.example.com:4477' }],
  ])('not what %s', async (_, headers) => {
    for (const config of [{}, { trustedProxies: 1 }, { trustedProxies: 2, metricsToken: token }])
      expect(await get(await serveWith(config), headers)).toEqual(refused)
  })

  it('requires the token, also on this machine, under a public address', async () => {
    const app = await serveWith({ local: false, metricsToken: token })
    expect(await get(app)).toEqual(refused)
    expect(await get(app, { authorization: `Bearer ${token}` })).toEqual(readable)
    expect(await get(await serveWith({ local: false }))).toEqual(refused)
  })

  it('allows any address with the token', async () => {
    const app = await serveWith({ metricsToken: token, trustedProxies: 1 })
    const from = { host: 'gym.example.com', 'x-forwarded-for': '203.0.113.9' }
    expect(await get(app, { ...from, authorization: `Bearer ${token}` })).toEqual(readable)
    expect(await get(app, { ...from, authorization: `bearer ${token}` })).toEqual(readable)
    expect(await get(app)).toEqual(readable)
  })

  it('rejects a wrong token, and every token if none is configured', async () => {
    const app = await serveWith({ metricsToken: token })
    for (const wrong of ['', 'x', token.slice(1), `${token} `, `${token}x`, 'undefined'])
      expect(await get(app, { host: 'gym.example.com', authorization: `Bearer ${wrong}x` })).toEqual(refused)
    // A wrong token is refused, even from this machine.
    expect(await get(app, { authorization: 'Bearer wrong' })).toEqual(refused)
    const open = await serveWith()
    expect(await get(open, { host: 'gym.example.com', authorization: 'Bearer undefined' })).toEqual(refused)
  })
})

describe('requests', () => {
  it('are counted by the pattern of their route, never by their path', async () => {
    const app = await serveWith()
    for (const id of ['1', '2', '3']) await fetch(`${app.url}/v1/things/${id}`)
    await fetch(`${app.url}/v1/things/4`, { method: 'POST' })
    await fetch(`${app.url}/v1/bug`)
    // Answered by the first pattern, refused before any route, and unmatched.
    await fetch(`${app.url}/v1/things/special`)
    await fetch(`${app.url}/v1/things/5`, { method: 'POST', body: new Uint8Array(2 ** 20 + 1) })
    await fetch(`${app.url}/v1/things/6`, { headers: { authorization: 'Bearer nobody' } })
    await fetch(`${app.url}/healthz`)
    for (let path = 0; path < 50; path++) await fetch(`${app.url}/v1/nothing/${path}?secret=${path}`)
    expect(await counts(app)).toEqual({
      'GET /v1/things/:id 200': 4,
      'GET /v1/things/:id 401': 1,
      'POST /v1/things/:id 201': 1,
      'POST /v1/things/:id 413': 1,
      'GET /healthz 200': 1,
      'GET /v1/bug 500': 1,
      'GET unmatched 404': 50,
    })
    expect(await counts(app)).toMatchObject({ 'GET /metrics 200': 1 })
  })

  it('count unknown methods as one series', async () => {
    const app = await serveWith()
    for (const method of ['PROPFIND', 'MKCOL', 'LOCK', 'SEARCH']) await fetch(`${app.url}/v1/things/1`, { method })
    expect(await counts(app)).toEqual({ 'other unmatched 404': 4 })
  })

  it('have durations with a matching count', async () => {
    const app = await serveWith()
    for (let call = 0; call < 5; call++) await fetch(`${app.url}/v1/things/1`)
    const samples = parseExposition((await get(app)).body).get('http_request_duration_seconds')?.samples ?? []
    const count = samples.find(({ name }) => name.endsWith('_count'))
    expect(count).toMatchObject({ labels: { method: 'GET', route: '/v1/things/:id', status: '200' }, value: 5 })
    const sum = samples.find(({ name }) => name.endsWith('_sum'))?.value ?? 0
    expect(sum).toBeGreaterThan(0)
    expect(sum).toBeLessThan(5 * 30)
  })

  it('are the same in two concurrent scrapes', async () => {
    const app = await serveWith()
    await fetch(`${app.url}/v1/things/1`)
    const answers = await Promise.all(Array.from({ length: 10 }, () => get(app)))
    for (const { body } of answers)
      expect(parseExposition(body).get('http_requests_total')?.samples).toContainEqual({
        name: 'http_requests_total',
        labels: { method: 'GET', route: '/v1/things/:id', status: '200' },
        value: 1,
      })
  })
})

describe('iterations', () => {
  it('are counted where they are accepted', async () => {
    const app = await serveWith()
    app.services.metrics.iterations([0.02, 0.2, 400])
    app.services.metrics.iterations([])
    const samples = parseExposition((await get(app)).body).get('training_iteration_duration_seconds')?.samples ?? []
    const read = (name: string, le?: string) =>
      samples.find((one) => one.name.endsWith(name) && one.labels.le === le)?.value
    expect([read('_bucket', '0.01'), read('_bucket', '0.05'), read('_bucket', '300'), read('_bucket', '+Inf')]).toEqual(
      [0, 1, 2, 3],
    )
    expect(read('_sum')).toBeCloseTo(400.22)
  })
})

describe('a database that does not answer', () => {
  it('still reports process metrics, and logs the failure', async () => {
    const closed = await postgresql.open()
    await closed.close()
    const app = await serveWith({}, closed)
    const families = parseExposition((await get(app)).body)
    expect(families.get('db_up')?.samples).toEqual([{ name: 'db_up', labels: {}, value: 0 }])
    expect(families.has('training_jobs_active')).toBe(false)
    expect(families.has('process_cpu_seconds_total')).toBe(true)
    expect(app.services.logged).toContainEqual({
      level: 'warn',
      message: 'database metrics could not be read',
      data: { error: expect.any(String) },
    })
  })
})
