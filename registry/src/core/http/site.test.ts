import { setTimeout as delay } from 'node:timers/promises'
import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { createRoute, z } from '@hono/zod-openapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../app/app.ts'
import { accountRoutes } from '../../modules/accounts/accounts.routes.ts'
import { npmRoutes } from '../../modules/npm/npm.routes.ts'
import type { Database } from '../database/database.ts'
import type { Services } from '../services.ts'
import { createRoutes, declare } from './route.ts'
import { type Site, siteHost, sitePaths, type Visitor } from './site.ts'

let database: Database
let app: ServedApp
const noPolicies = { terms: null, privacy: null, 'acceptable-use': null }
/** Handler of the next request to the site. */
let answer: (request: Request, visitor: Visitor) => Response | Promise<Response>

/** Returns what the API knows about the caller. */
function mirrorRoom() {
  const routes = createRoutes()
  const response = { 200: { description: 'Mirrored.', content: { 'application/json': { schema: z.any() } } } }
  routes.openapi(createRoute({ method: 'get', path: '/v1/mirror', responses: response }), (c) =>
    c.json({
      ip: c.get('ip'),
      id: c.get('requestId'),
      actor: c.get('actor')?.username ?? null,
      secret: c.req.header('x-secret') ?? null,
    }),
  )
  routes.get('/v1/odd', async (c, next) => {
    await next()
    // After the answer, as a session's renewed cookie is.
    c.header('set-cookie', 'late=1')
  })
  routes.get('/v1/odd', (c) =>
    c.json({ day: new Date('2026-01-02'), none: Number.NaN, left: undefined, list: [undefined], words: 'π "<"' }, 203, {
      'x-odd': 'yes',
    }),
  )
  routes.get('/v1/odd/page', (c) => c.html('<p>odd</p>'))
  routes.get('/v1/bug', () => {
    throw new Error('of the API')
  })
  return routes
}

beforeAll(async () => {
  database = await postgresql.open()
  const site: Site = { fetch: (request, visitor) => answer(request, visitor) }
  app = await serveApp(database, (services) => [accountRoutes(services), mirrorRoom()], { trustedProxies: 1 }, { site })
})
afterAll(async () => {
  await app.close()
  await database.close()
})

const mirrored = async (visitor: Visitor, headers: Record<string, string> = {}) =>
  (await visitor.callApi(new Request(`${app.url}/v1/mirror`, { headers }))).json() as Promise<
    Record<string, string | null>
  >

describe('paths', () => {
  let served: ReturnType<typeof createApp>
  const isSitePath = (path: string) => sitePaths(served)(path)
  beforeAll(() => {
    served = createApp(app.services, {
      routes: [accountRoutes(app.services), npmRoutes(app.services), mirrorRoom()],
      site: { fetch: () => new Response() },
    })
  })

  it('of the server’s own are never the site’s', () => {
    const own = served.routes.map(({ path }) => path).filter((path) => !path.startsWith('/docs'))
    const others = ['/v1', '/v1/packages/@a/b', '/npm/', '/npm/@a%2fb', '/device', '/verify-email', '/reset-password']
    const paths = [...own, ...others].filter((path) => path !== '/*' && path !== '/')
    expect(paths.length).toBeGreaterThan(10)
    expect(paths.filter(isSitePath)).toEqual([])
  })

  it.each([
    '/',
    '/packages',
    '/packages/@v1/rpc',
    '/v10',
    '/npmx',
    '/docs/api',
    '/documents',
    '/devices',
    '/assets/site-1.css',
    '//v1/packages',
  ])('%s is the site’s', (path) => expect(isSitePath(path)).toBe(true))

  it('yielded by routes are the site’s, unless another route has the same first segment', () => {
    const page = declare({ access: 'anyone', yieldsToSite: true })
    const routes = createRoutes()
    for (const path of ['/shelf/:book', '/v1/page', '/mixed/page']) routes.get(path, page, (c) => c.text('a page'))
    routes.get('/mixed/data', declare({ access: 'anyone' }), (c) => c.text('data'))
    const isSite = sitePaths(createApp(app.services, { routes: [routes, mirrorRoom()] }))
    const paths = ['/shelf', '/shelf/1', '/v1/page', '/v1/nothing', '/mixed/page', '/mixed/data']
    expect(paths.filter(isSite)).toEqual(['/shelf', '/shelf/1'])
  })

  it('of the server are not passed to the site', async () => {
    answer = () => new Response('the site', { headers: { 'content-type': 'text/plain' } })
    expect(await (await fetch(`${app.url}/anything`)).text()).toBe('the site')
    for (const path of ['/healthz', '/server-assets/inter.woff2', '/v1/mirror', '/v1/nothing', '/device'])
      expect(await (await fetch(app.url + path)).text(), path).not.toBe('the site')
  })
})

describe('the API as called by the site', () => {
  it('sees the visitor’s address and request, and only the headers that the site forwards', async () => {
    answer = async (_, visitor) => Response.json({ ...(await mirrored(visitor)), visitor: visitor.requestId })
    const response = await fetch(`${app.url}/`, { headers: { 'x-forwarded-for': '203.0.113.9', 'x-secret': 'mine' } })
    const reported = (await response.json()) as Record<string, string>
    expect(reported).toMatchObject({ ip: '203.0.113.9', actor: null, secret: null })
    expect(reported.id).toBe(reported.visitor)
    expect(response.headers.get('x-request-id')).toBe(reported.id)
  })

  it('does not trust an address in the site’s request', async () => {
    answer = async (_, visitor) =>
      Response.json(await mirrored(visitor, { 'x-forwarded-for': '198.51.100.1', 'x-request-id': 'forged-by-me' }))
    const response = await fetch(`${app.url}/`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(await response.json()).toMatchObject({ ip: '203.0.113.9', id: response.headers.get('x-request-id') })
  })

  it('identifies a session by its cookie, and accepts writes as JSON', async () => {
    const post = (path: string, body: unknown) =>
      new Request(app.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const account = { username: 'ada', email: 'ada@example.com', password: 'correct horse battery' }
    answer = async (_, visitor) => {
      await visitor.callApi(post('/v1/accounts', account))
      const { headers } = await visitor.callApi(post('/v1/sessions', { username: 'ada', password: account.password }))
      const cookie = headers.getSetCookie()[0].split(';')[0]
      return Response.json(await mirrored(visitor, { cookie }))
    }
    // From a form: the site, not the API, checks its origin.
    const response = await fetch(`${app.url}/signup`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) })
    expect(await response.json()).toMatchObject({ actor: 'ada' })
  })

  it('returns JSON without a body, readable more than once', async () => {
    const path = `${app.url}/v1/odd`
    answer = async (_, visitor) => {
      const handed = await visitor.callApi(new Request(path))
      const [text, again, value] = [await handed.text(), await handed.text(), await handed.json()]
      const { status, body, headers } = handed
      return Response.json({ text, again, value, status, body, headers: [...headers] })
    }
    const sent = await fetch(path)
    const text = await sent.text()
    expect(JSON.parse(text)).toEqual({ day: '2026-01-02T00:00:00.000Z', none: null, list: [null], words: 'π "<"' })
    expect(await (await fetch(`${app.url}/`)).json()).toMatchObject({
      ...{ text, again: text, value: JSON.parse(text), status: sent.status, body: null },
      headers: expect.arrayContaining([
        ['content-type', 'application/json'],
        ['set-cookie', 'late=1'],
        ['x-odd', 'yes'],
      ]),
    })
  })

  it('returns other content and failures unchanged', async () => {
    answer = async (_, visitor) => {
      const page = await visitor.callApi(new Request(`${app.url}/v1/odd/page`))
      const failure = await visitor.callApi(new Request(`${app.url}/v1/nowhere`))
      return Response.json([await page.text(), failure.status, await failure.json()])
    }
    const [page, status, failure] = (await (await fetch(`${app.url}/`)).json()) as [string, number, object]
    expect([page, status]).toEqual(['<p>odd</p>', 404])
    expect(failure).toMatchObject({ error: { code: 'endpoint_not_found' } })
  })

  it('returns API bugs to the site, logged with the same request', async () => {
    answer = async (_, visitor) => {
      const { status } = await visitor.callApi(new Request(`${app.url}/v1/bug`))
      return new Response(String(status))
    }
    const response = await fetch(`${app.url}/broken`)
    expect(await response.text()).toBe('500')
    const id = response.headers.get('x-request-id')
    const lines = app.services.logged.filter(({ data }) => data?.request_id === id)
    expect(lines.map(({ message }) => message)).toEqual(['a request failed', 'request', 'request'])
  })
})

describe('a request to the site', () => {
  it('is one log line with its API calls, counted by the site’s pattern', async () => {
    answer = async (_, visitor) => {
      visitor.routed('/packages/:scope/:name')
      await mirrored(visitor)
      return new Response('page', { headers: { 'content-type': 'text/html' } })
    }
    const response = await fetch(`${app.url}/packages/@acme%2fmaze`)
    await delay(0)
    const id = response.headers.get('x-request-id')
    const lines = app.services.logged.filter(({ data }) => data?.request_id === id)
    expect(lines.map(({ data }) => data?.path)).toEqual(['/packages/@acme/maze'])
    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    expect(metrics).toContain('route="/packages/:scope/:name"')
  })

  it('keeps the site’s own policy, and gets all other headers', async () => {
    const policy = "default-src 'none'; script-src 'self'"
    answer = () => new Response('page', { headers: { 'content-type': 'text/html', 'content-security-policy': policy } })
    const { headers } = await fetch(`${app.url}/`)
    expect(headers.get('content-security-policy')).toBe(policy)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('reports a site that throws as a bug with an ID and no stack', async () => {
    answer = () => {
      throw new Error('secret detail')
    }
    const response = await fetch(`${app.url}/`)
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(text).toContain('internal_error')
    expect(text).not.toContain('secret detail')
  })

  it('refuses an oversized body before the site sees it', async () => {
    let requested = false
    answer = () => {
      requested = true
      return new Response()
    }
    const response = await fetch(`${app.url}/login`, { method: 'POST', body: new Uint8Array(2 ** 20 + 1) })
    expect([response.status, requested]).toEqual([413, false])
  })
})

describe('the site’s host', () => {
  it('has a separate key, and no credentials', () => {
    const services: Services = app.services
    const host = siteHost(services, noPolicies)
    expect(Object.keys(host).sort()).toEqual([
      'commandUrl',
      'currency',
      'formKey',
      'log',
      'oauthProviders',
      'policies',
      'publicUrl',
      'secure',
      'testMoney',
      'version',
    ])
    expect(siteHost(services, noPolicies, '/cli/agentgym.tgz').commandUrl).toBe(`${host.publicUrl}/cli/agentgym.tgz`)
    expect(host.formKey).toHaveLength(32)
    expect(Buffer.from(host.formKey).equals(Buffer.from(services.config.secret))).toBe(false)
    expect(Buffer.from(siteHost(services, noPolicies).formKey).equals(Buffer.from(host.formKey))).toBe(true)
  })
})
