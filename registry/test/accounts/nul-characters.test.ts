import { postgresql } from '@agentgym/testkit/databases'
import { type ServedApp, serveApp } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/app.ts'
import { buildOpenApiDocument } from '../../src/app/documentation.ts'
import { openModules } from '../../src/app/modules.ts'
import { scopes } from '../../src/core/access/authorize.ts'
import type { Database } from '../../src/core/database/database.ts'
import { createRoutes, declare } from '../../src/core/http/route.ts'
import { insertAccount } from '../../src/modules/accounts/accounts.store.ts'
import { createToken } from '../../src/modules/accounts/tokens.store.ts'
import { listed } from '../../src/modules/catalog/testing/listed.ts'
import { loadPackages } from '../../src/modules/catalog/testing/load-packages.ts'

type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  format?: string
  pattern?: string
  $ref?: string
}
type Parameter = { in: string; name: string; required?: boolean; schema?: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
type Route = { method: string; path: string; operation: Operation }

const nul = 'a\u0000b'

/** Values of parameters and fields, so that a request comes as far as the one with U+0000 in it. */
const existing: Record<string, string> = {
  ...{ scope: '@acme', name: 'pole', package: '@acme/pole', scenario: '@acme/pole', subject: '@acme/pole' },
  ...{ version: '1.0.0', range: '1.0.0', tag: 'latest', account: 'ops', username: 'ops', organisation: 'guild' },
  ...{ email: 'a@example.com', hash: '0'.repeat(64), model: '@acme/pole', lease: 'x', id: crypto.randomUUID() },
}

describe('U+0000', () => {
  let database: Database
  let app: ServedApp
  let token: string
  let renewToken: () => Promise<void>
  let routes: Route[]
  let components: Record<string, Schema>
  beforeAll(async () => {
    database = await postgresql.open()
    const opened = await serveApp(database, [])
    const rooms = (await openModules(opened.services)).routes
    await opened.close()
    const storing = createRoutes()
      .get('/test/text', declare({ access: 'anyone' }), async (c) => {
        await database.query.insertInto('installation').values({ name: nul, value: 'x' }).execute()
        return c.json({})
      })
      .get('/test/json', declare({ access: 'anyone' }), async (c) => {
        const entry = { actor_id: null, token_id: null, action: 'x', subject: 'x', ip: null, data: { nul } }
        await database.query.insertInto('audit').values(entry).execute()
        return c.json({})
      })
    app = await serveApp(database, [...rooms, storing], { secret: opened.services.config.secret })
    const document = buildOpenApiDocument(createApp(app.services, { routes: rooms }), app.url, '0')
    components = (document.components?.schemas ?? {}) as Record<string, Schema>
    routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
        ...{ method: method.toUpperCase(), path, operation },
      })),
    )
    await loadPackages(database, [listed('@acme/pole')])
    const { id } = await database.transaction((query) =>
      insertAccount(query, { kind: 'user', username: 'ops', operator: true }),
    )
    renewToken = async () => {
      // A route of the last one may have signed out, disabled or demoted the caller.
      const well = { disabled_at: null, operator: true }
      await database.query.updateTable('accounts').set(well).where('id', '=', id).execute()
      await database.query.deleteFrom('rate_limits').execute()
      token = (await createToken(database.query, { accountId: id, name: 'all', scopes, expiresAt: null })).token
    }
    await renewToken()
  })
  afterAll(async () => {
    await app.close()
    await database.close()
  })

  const send = async (method: string, address: string, body?: unknown) => {
    const response = await fetch(app.url + address, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'agentgym-lease': 'x' },
      body: method === 'GET' || body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    })
    return { status: response.status, text: await response.text() }
  }

  it('reaching the database is the caller’s error, as text and in JSON', async () => {
    for (const path of ['/test/text', '/test/json']) {
      const { status, text } = await send('GET', path)
      expect([status, JSON.parse(text).error.code]).toEqual([422, 'request_invalid'])
    }
  })

  it('in any path, query or body is never a server error', async () => {
    const failed: string[] = []
    const refused: string[] = []
    const attempt = async (method: string, address: string, body?: unknown) => {
      const { status, text } = await send(method, address, body)
      if (status === 401 && !text.includes('session')) refused.push(`${method} ${address}`)
      if (status >= 500 && status !== 503) failed.push(`${method} ${address}: ${status} ${text.slice(0, 200)}`)
    }
    const placed = (path: string) => path.replace(/\{([^}]*)\}/g, (_, name) => existing[name] ?? 'x')
    for (const { method, path, operation } of routes) {
      await renewToken()
      const queries = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
      const given = new URLSearchParams(
        queries.flatMap(({ name, required }): [string, string][] => (required ? [[name, existing[name] ?? 'x']] : [])),
      )
      const schema = operation.requestBody?.content['application/json']?.schema
      const body = schema === undefined ? {} : sample(schema, false)
      for (const [whole] of path.matchAll(/\{[^}]*\}/g))
        await attempt(method, `${placed(path.replace(whole, 'a%00b'))}?${given}`, body)
      for (const { name } of queries) {
        const others = new URLSearchParams(given)
        others.set(name, 'a\u0000b')
        await attempt(method, `${placed(path)}?${others}`, body)
      }
      if (schema === undefined) continue
      for (const full of [true, false]) {
        const whole = sample(schema, full)
        for (const mutant of mutants(whole)) await attempt(method, `${placed(path)}?${given}`, mutant)
      }
    }
    expect(failed).toEqual([])
    // The others were let in, so that they read what they were sent.
    expect(refused.length).toBeLessThan(20)
    expect(routes.length).toBeGreaterThan(100)
  })

  /** A value by its schema, of what exists where the name tells; all properties, or only those required. */
  function sample(schema: Schema, full: boolean, name = '', depth = 0): unknown {
    const resolved = components[schema.$ref?.split('/').at(-1) ?? '']
    if (resolved !== undefined) return sample(resolved, full, name, depth)
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return schema.enum[0]
    const [either] = schema.anyOf ?? schema.oneOf ?? []
    if (either !== undefined) return sample(either, full, name, depth)
    if (depth > 6) return null
    switch (schema.type) {
      case 'string':
        if (schema.format === 'uuid') return crypto.randomUUID()
        if (schema.format === 'date-time') return new Date().toISOString()
        if (schema.format === 'email') return 'a@example.com'
        return existing[name] ?? 'a long enough text'
      case 'integer':
      case 'number':
        return 1
      case 'boolean':
        return true
      case 'array':
        return [sample(schema.items ?? {}, full, name, depth + 1)]
      case 'object': {
        const { properties = {}, required = [] } = schema
        const names = Object.keys(properties).filter((name) => full || required.includes(name))
        return Object.fromEntries(names.map((key) => [key, sample(properties[key], full, key, depth + 1)]))
      }
      default:
        return 'x'
    }
  }
})

/** Copies of a value, each with U+0000 in one of its strings. */
function* mutants(value: unknown): Generator<unknown> {
  if (typeof value === 'string') yield nul
  else if (Array.isArray(value)) for (const one of mutants(value[0])) yield [one, ...value.slice(1)]
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) for (const one of mutants(inner)) yield { ...value, [key]: one }
}
