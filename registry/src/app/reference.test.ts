import { dataFolder } from '@agentgym/testkit/registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { methods, type OpenApiDocument } from './documentation.ts'
import { type RunningServer, serve } from './serve.ts'

let server: RunningServer
let document: OpenApiDocument

beforeAll(async () => {
  server = await serve({ data: await dataFolder(), port: 0, environment: { AGENTGYM_LOG_LEVEL: 'error' } })
  document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as OpenApiDocument
})
afterAll(() => server.close())

/**
 * Parameters that look like secrets and must be in the address. OAuth sends its code and state there: each is valid once, for
 * the browser that began the log-in. The state of runs and so on is none. Links in mails are pages, not part of the API: they
 * are valid once. Presigned addresses of a bucket would be fine as well: their signatures end within minutes.
 */
const known = [
  'get /v1/oauth/{provider}/callback query code',
  'get /v1/oauth/{provider}/callback query state',
  'get /v1/orders query state',
  'get /v1/reports query state',
  'get /v1/runs query state',
]

const operations = () =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ path, method, ...item[method] }])),
  )

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1 of this server', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.servers).toEqual([{ url: server.url }])
    expect(operations().length).toBeGreaterThan(30)
  })

  it('names every operation once, with a summary and a group', () => {
    const ids = operations().map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operationId, summary, tags, path, method } of operations()) {
      expect(operationId).toMatch(/^[a-z][A-Za-z0-9]+$/)
      expect(summary, `${method} ${path}`).toMatch(/^[A-Z]/)
      expect(document.tags?.map(({ name }) => name)).toContain(tags?.[0])
    }
  })

  it('declares every path parameter, and responses for success and failure', () => {
    for (const { path, method, parameters = [], responses } of operations()) {
      const declared = parameters.flatMap((parameter) =>
        'name' in parameter && parameter.in === 'path' ? [parameter.name] : [],
      )
      expect([...declared].sort(), path).toEqual([...path.matchAll(/\{(\w+)/g)].map(([, name]) => name).sort())
      const statuses = Object.keys(responses ?? {})
      expect(
        statuses.some((status) => /^[23]/.test(status)),
        `${method} ${path}`,
      ).toBe(true)
      if (path.startsWith('/v1/')) expect(statuses, `${method} ${path}`).toContain('500')
    }
  })

  it('has no secrets in URLs, which proxies log', () => {
    const secret = /lease|token|secret|passw|credential|signature|proof|(^|_)(key|code|state)$/i
    const parameters = operations().flatMap(({ method, path, parameters = [] }) =>
      parameters.flatMap((parameter) =>
        'name' in parameter && (parameter.in === 'query' || parameter.in === 'path')
          ? [`${method} ${path} ${parameter.in} ${parameter.name}`]
          : [],
      ),
    )
    expect(parameters.filter((parameter) => secret.test(parameter.split(' ')[3]))).toEqual(known)
    for (const name of ['lease', 'token', 'password', 'api_key', 'device_code', 'client_secret'])
      expect(name).toMatch(secret)
  })

  it('requires a token where a response is 401', () => {
    for (const { responses, security, path } of operations()) {
      if (!path.startsWith('/v1/')) continue
      expect(security).toEqual('401' in (responses ?? {}) ? [{ token: [] }] : [{}, { token: [] }])
    }
  })

  it('covers every route below /v1/', async () => {
    for (const { path, method } of operations()) {
      const address = path.replace(/\{\w+\}/g, 'x')
      const response = await fetch(server.url + address, { method, redirect: 'manual' })
      const { error } = (await response.json().catch(() => ({}))) as { error?: { code: string } }
      expect(error?.code, `${method} ${path}`).not.toBe('endpoint_not_found')
    }
  })
})

describe('the reference pages', () => {
  const page = async (path: string) => {
    const response = await fetch(server.url + path)
    expect(response.status, path).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    return response.text()
  }

  it('show every operation of the document', async () => {
    const overview = await page('/docs/api')
    for (const { path, method, operationId, tags, summary = '' } of operations()) {
      const group = `/docs/api/${tags?.[0].toLowerCase()}`
      expect(overview).toContain(`${group}#${operationId}`)
      const text = await page(group)
      expect(text).toContain(`id="${operationId}"`)
      expect(text).toContain(`<span class="method">${method.toUpperCase()}</span>${path}`)
      expect(text).toContain(summary.replaceAll('&', '&amp;').replaceAll("'", '&#39;'))
    }
  })

  it('have no scripts, no external resources and no broken links', async () => {
    const seen = new Set<string>()
    const open = ['/']
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      const response = await fetch(server.url + path)
      expect(response.ok, path).toBe(true)
      if (!response.headers.get('content-type')?.startsWith('text/html')) continue
      const text = await response.text()
      expect(text).not.toMatch(/<script|javascript:|\son\w+=|<style|\sstyle=/i)
      for (const [, target] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (target === 'data:,') continue
        const [address, anchor] = target.split('#')
        if (anchor !== undefined && address === '') expect(text).toContain(`id="${anchor}"`)
        expect(target).toMatch(/^[/#]/)
        if (address !== '') open.push(address)
      }
    }
    expect(seen.size).toBeGreaterThan(6)
  })

  it('list every code of the catalogue', async () => {
    expect(await page('/docs/api/errors')).toMatch(/<td>404<\/td><td><code>package_not_found<\/code>/)
  })

  it('serve their own fonts', async () => {
    const [stylesheet] = /\/server-assets\/[\w-]+\.css/.exec(await page('/')) ?? []
    const css = await (await fetch(server.url + stylesheet)).text()
    const fonts = [...css.matchAll(/url\('([^']+)'\)/g)].map(([, address]) => address)
    expect(fonts).toHaveLength(2)
    for (const font of fonts) {
      const response = await fetch(server.url + font)
      expect(response.headers.get('content-type')).toBe('font/woff2')
      expect(response.headers.get('cache-control')).toMatch(/immutable/)
    }
  })
})
