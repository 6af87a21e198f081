import { AgentGymError } from '@agentgym/contract'
import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { createRoute, z } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../core/database/database.ts'
import type { Env } from '../core/http/env.ts'
import { createRoutes, declare, defineRoute, failures, undeclaredRoutes } from '../core/http/route.ts'
import { npmFailures } from '../modules/npm/npm-errors.ts'
import { createApp } from './app.ts'
import { buildOpenApiDocument } from './documentation.ts'
import { openModules } from './modules.ts'

const json = { 'content-type': 'application/json' }
let database: Database
let app: ServedApp

beforeAll(async () => {
  database = await postgresql.open()
  app = await serveApp(database, [faultyRoom()])
})
afterAll(async () => {
  await app.close()
  await database.close()
})

/** Routes with every kind of failure. */
function faultyRoom() {
  const routes = createRoutes()
  const body = z.strictObject({ name: z.string().min(3), count: z.int() })
  const route = createRoute({
    method: 'post',
    path: '/v1/things',
    request: { body: { required: true, content: { 'application/json': { schema: body } } } },
    responses: { 200: { description: 'Taken.', content: { 'application/json': { schema: body } } }, ...failures() },
  })
  routes.openapi(route, (c) => c.json(c.req.valid('json'), 200))
  routes.get('/v1/expected', () => {
    throw new AgentGymError({
      code: 'name_taken',
      message: 'The name is taken.',
      hint: 'Take another.',
      data: { name: 'x' },
    })
  })
  routes.get('/v1/limited', () => {
    throw new AgentGymError({ code: 'rate_limited', message: 'Too many.', data: { retry_after_seconds: 7.2 } })
  })
  routes.get('/v1/bug', () => {
    throw new Error('the secret is 42', { cause: new Error('deeper') })
  })
  routes.get('/v1/teapot', () => {
    throw new HTTPException(418, { message: 'short and stout' })
  })
  routes.get('/v1/addresses', (c) => c.json({ ip: c.get('ip'), actor: c.get('actor') }))
  routes.get('/v1/password-resets/:token', (c) => c.json({ token: c.req.param('token') }))
  routes.post('/v1/echo', async (c) => c.text(String((await c.req.arrayBuffer()).byteLength)))
  routes.get('/v1/packages/:scope/:name', (c) => c.json(c.req.param()))
  routes.get('/npm/broken', declare({ access: 'anyone', failureFormat: npmFailures }), () => {
    throw new AgentGymError({ code: 'forbidden', message: 'Not yours.', hint: 'Ask.' })
  })
  return routes
}

type Answer = { error: { code: string; message: string } } & Record<string, unknown>

async function get(path: string, init: RequestInit = {}) {
  const response = await fetch(app.url + path, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
}

describe('failures', () => {
  it('an expected failure has code, status, hint and data', async () => {
    const { status, body } = await get('/v1/expected')
    expect(status).toBe(409)
    expect(body).toEqual({
      error: { code: 'name_taken', message: 'The name is taken.', hint: 'Take another.', data: { name: 'x' } },
    })
  })

  it('a bug is internal_error with the request ID; the details are only logged', async () => {
    const { status, body, headers } = await get('/v1/bug')
    expect(status).toBe(500)
    expect(body.error).toMatchObject({ code: 'internal_error', data: { request_id: headers.get('x-request-id') } })
    expect(JSON.stringify(body)).not.toMatch(/secret|deeper/)
    const entry = app.services.logged.find(({ level }) => level === 'error')
    expect(entry?.data).toMatchObject({ request_id: headers.get('x-request-id') })
    expect(entry?.data?.error).toMatch(/the secret is 42[\s\S]*caused by Error: deeper/)
  })

  it.each([
    [{ name: 'ab', count: 1 }, 'name', /field "name" of the body .*3 characters/],
    [{ name: 'abc', count: 'one' }, 'count', /field "count" of the body .*expected (int|number)/],
    [{ name: 'abc', count: 1, colour: 'red' }, 'colour', /field "colour" of the body .*unknown field/],
    [[], '', /^The body is invalid/],
  ])('a body %j that does not match its schema names %s', async (given, field, message) => {
    const { status, body } = await get('/v1/things', { method: 'POST', headers: json, body: JSON.stringify(given) })
    expect(status).toBe(422)
    expect(body.error).toMatchObject({ code: 'request_invalid', data: { field, in: 'json' } })
    expect(body.error.message).toMatch(message)
  })

  it('a body that is not JSON is 400', async () => {
    const { status, body } = await get('/v1/things', { method: 'POST', headers: json, body: '{' })
    expect(status).toBe(400)
    expect(body.error.code).toBe('request_invalid')
  })

  it('a body with another content type is 415', async () => {
    const { status, body } = await get('/v1/things', { method: 'POST', body: '{"name":"abc","count":1}' })
    expect(status).toBe(415)
    expect(body.error.code).toBe('request_invalid')
  })

  it('errors of Hono keep their status', async () => {
    const { status, body } = await get('/v1/teapot')
    expect(status).toBe(418)
    expect(body.error).toEqual({ code: 'request_invalid', message: 'short and stout.' })
  })

  it('returns endpoint_not_found for an unknown path and any method', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
      const { status, body } = await get('/v1/nothing', { method })
      expect(status).toBe(404)
      expect(body.error).toMatchObject({ code: 'endpoint_not_found', hint: expect.stringContaining('/docs') })
    }
  })

  it("failures below /npm/ use npm's error format", async () => {
    const { status, body } = await get('/npm/broken')
    expect(status).toBe(403)
    expect(body).toEqual({ error: 'Not yours. Ask.', code: 'forbidden' })
  })

  it('says when to retry and how to log in', async () => {
    expect((await get('/v1/limited')).headers.get('retry-after')).toBe('8')
    const refused = await get('/v1/addresses', { headers: { authorization: 'Bearer agt_nobody' } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  })
})

describe('headers', () => {
  it('are on every response, including failures', async () => {
    for (const path of ['/', '/docs', '/healthz', '/v1/openapi.json', '/v1/nothing', '/v1/bug', '/npm/broken']) {
      const { headers } = await fetch(app.url + path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('strict-origin-when-cross-origin')
      expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'/)
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|script/)
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
      expect(headers.has('access-control-allow-origin')).toBe(false)
      expect(headers.has('strict-transport-security')).toBe(false)
      expect(headers.has('x-powered-by')).toBe(false)
    }
  })

  it('prevent caching unless a route allows it', async () => {
    expect((await fetch(`${app.url}/v1/addresses`)).headers.get('cache-control')).toBe('no-store')
    expect((await fetch(`${app.url}/v1/openapi.json`)).headers.get('cache-control')).toBe('public, max-age=60')
  })

  it('sends HSTS behind TLS', async () => {
    const secure = await serveApp(database, [], { secure: true })
    const { headers } = await fetch(`${secure.url}/healthz`)
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/)
    await secure.close()
  })

  it('a client cannot choose its address or request ID, except through a trusted proxy', async () => {
    const claims = { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'chosen-by-client' }
    const direct = await get('/v1/addresses', { headers: claims })
    expect(direct.body).toEqual({ ip: '127.0.0.1', actor: null })
    expect(direct.headers.get('x-request-id')).not.toBe('chosen-by-client')

    const behind = await serveApp(database, [faultyRoom()], { trustedProxies: 1 })
    const proxied = await fetch(`${behind.url}/v1/addresses`, { headers: claims })
    expect(await proxied.json()).toEqual({ ip: '203.0.113.9', actor: null })
    expect(proxied.headers.get('x-request-id')).toBe('chosen-by-client')
    await behind.close()
  })
})

describe('limits', () => {
  const megabytes = (count: number) => new Uint8Array(count * 2 ** 20)
  const stream = (bytes: Uint8Array): RequestInit =>
    ({ method: 'POST', duplex: 'half', body: new Blob([bytes as Uint8Array<ArrayBuffer>]).stream() }) as RequestInit

  it('a body within the limits arrives complete, with or without content-length', async () => {
    const whole = megabytes(1)
    expect(await (await fetch(`${app.url}/v1/echo`, { method: 'POST', body: whole })).text()).toBe('1048576')
    expect(await (await fetch(`${app.url}/v1/echo`, stream(whole))).text()).toBe('1048576')
  })

  it('a larger body is request_too_large, with or without content-length', async () => {
    for (const init of [{ method: 'POST', body: megabytes(2) }, stream(megabytes(2))]) {
      const { status, body } = await get('/v1/echo', init)
      expect(status).toBe(413)
      expect(body.error).toMatchObject({ code: 'request_too_large', data: { limit_bytes: 2 ** 20 } })
      // The connection is not reused, because the rest of the body was not read.
      expect((await get('/v1/addresses')).status).toBe(200)
    }
  })
})

describe('paths of packages', () => {
  it.each(['@acme/maze', '@acme%2fmaze', '@acme%2Fmaze', '%40acme/maze', '%40acme%2Fmaze'])('%s', async (name) => {
    expect((await get(`/v1/packages/${name}`)).body).toEqual({ scope: '@acme', name: 'maze' })
  })

  it('a doubly encoded name matches nothing', async () => {
    expect((await get('/v1/packages/@acme%252fmaze')).status).toBe(404)
    expect((await get('/v1/packages/@acme%252Fmaze')).status).toBe(404)
  })
})

describe('the log', () => {
  it('has one entry per request, without query and token', async () => {
    const { logged } = app.services
    const before = logged.length
    const { headers } = await get('/v1/addresses?code=oauth-secret', { headers: { 'x-note': 'agt_secret' } })
    await get('/v1/password-resets/reset-secret')
    await fetch(`${app.url}/healthz`)
    const entries = logged.slice(before)
    expect(entries).toHaveLength(2)
    expect(entries[0]).toEqual({
      level: 'info',
      message: 'request',
      data: {
        request_id: headers.get('x-request-id'),
        method: 'GET',
        path: '/v1/addresses',
        status: 200,
        duration_ms: expect.any(Number),
        ip: '127.0.0.1',
        actor: undefined,
      },
    })
    expect(entries[1].data?.path).toBe('/v1/password-resets/:token')
    expect(JSON.stringify(entries)).not.toMatch(/secret/)
  })
})

describe('every route', () => {
  it('declares its rules', async () => {
    const { routes } = await openModules(app.services)
    const whole = createApp(app.services, { routes })
    expect(whole.routes.length).toBeGreaterThan(100)
    expect(undeclaredRoutes(whole)).toEqual([])
  })

  it('detects a route without a declaration', () => {
    expect(undeclaredRoutes(faultyRoom())).toContain('GET /v1/bug')
  })

  it('is documented the same in any mounting order', async () => {
    const { routes } = await openModules(app.services)
    const described = (mounted: Hono<Env>[]) =>
      buildOpenApiDocument(createApp(app.services, { routes: mounted }), 'http://localhost', '1.0.0')
    const { paths, components } = described(routes)
    expect(Object.keys(components?.schemas ?? {}).length).toBeGreaterThan(50)
    const backwards = described(routes.toReversed())
    expect(backwards.components).toEqual(components)
    expect(backwards.paths).toEqual(paths)
  })

  it('documents a named schema itself, even if its first use is nullable', () => {
    const routes = createRoutes()
    const named = z.object({ word: z.string() }).meta({ id: 'Named' })
    const uses: [string, z.ZodType][] = [
      ['/v1/nullable', z.object({ named: named.nullable() })],
      ['/v1/optional', z.object({ named: named.nullish() })],
      ['/v1/lazy', z.object({ named: z.lazy(() => z.array(named)) })],
      ['/v1/plain', named],
    ]
    for (const [path, schema] of uses) {
      const responses = { 200: { description: 'Used.', content: { 'application/json': { schema } } } }
      routes.openapi(defineRoute({ access: 'anyone', method: 'get', path, responses }), (c) => c.json({} as never, 200))
    }
    const document = buildOpenApiDocument(createApp(app.services, { routes: [routes] }), 'http://localhost', '1.0.0')
    expect(document.components?.schemas?.Named).toEqual({
      type: 'object',
      properties: { word: { type: 'string' } },
      required: ['word'],
    })
    expect(JSON.stringify(document.paths?.['/v1/nullable'])).toMatch(/"null"/)
  })
})
