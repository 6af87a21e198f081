import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ApiRoute, apiRoutes, signUpRequestSchema, tokenListSchema } from '@agentgym/contract'
import { serve } from '@agentgym/registry'
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { expect, it } from 'vitest'

it("the contract's table of routes, which types the client, is the server's OpenAPI document", async () => {
  const served = describedOperations(await servedDocument())
  expect(describedOperations(documentOf(apiRoutes))).toEqual(served)
  expect(Object.keys(served).length).toBeGreaterThan(100)
}, 60_000)

it('detects a different, missing or extra route', () => {
  const served = describedOperations(documentOf(apiRoutes))
  const differing = {
    ...apiRoutes,
    'GET /v1/tokens': { response: tokenListSchema.extend({ next: tokenListSchema.shape.tokens }) },
    'POST /v1/accounts': { ...apiRoutes['POST /v1/accounts'], body: signUpRequestSchema.partial({ email: true }) },
    'GET /v1/orders': { response: apiRoutes['GET /v1/orders'].response },
    'POST /v1/orders': { ...apiRoutes['POST /v1/orders'], headers: undefined },
    'DELETE /v1/tokens/{id}': { response: tokenListSchema },
    'GET /v1/models/{id}': {},
    'GET /v1/keys': undefined,
  }
  const found = describedOperations(documentOf(differing))
  const wrong = Object.keys({ ...served, ...found }).filter((key) => {
    return JSON.stringify(served[key]) !== JSON.stringify(found[key])
  })
  expect(wrong.sort()).toEqual([
    'DELETE /v1/tokens/{id}',
    'GET /v1/keys',
    'GET /v1/models/{id}',
    'GET /v1/orders',
    'GET /v1/tokens',
    'POST /v1/accounts',
    'POST /v1/orders',
  ])
})

/** From a server on an empty folder: only there are all routes together. */
async function servedDocument(): Promise<OpenApiDocument> {
  const data = mkdtempSync(join(tmpdir(), 'agentgym-document-'))
  const server = await serve({ data, port: 0, environment: { AGENTGYM_LOG_LEVEL: 'error' } })
  try {
    const response = await fetch(`${server.url}/v1/openapi.json`)
    return (await response.json()) as OpenApiDocument
  } finally {
    await server.close()
    rmSync(data, { recursive: true, force: true })
  }
}

type OpenApiDocument = {
  paths?: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, unknown> }
}
type Content = { content?: Record<string, { schema?: unknown }> }
type Operation = {
  parameters?: { name: string; in: string; required?: boolean; schema?: unknown }[]
  requestBody?: Content & { required?: boolean }
  responses?: Record<string, Content>
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** An OpenAPI document of a table of routes, made by the library that makes the server's. */
function documentOf(routes: Record<string, ApiRoute | undefined>): OpenApiDocument {
  const app = new OpenAPIHono()
  for (const [key, route] of Object.entries(routes)) {
    if (route === undefined) continue
    const [method, path] = key.split(' ')
    app.openAPIRegistry.registerPath({
      method: method.toLowerCase() as 'get',
      path,
      request: {
        query: route.query,
        headers: route.headers,
        body: route.body === undefined ? undefined : { required: true, content: contentOf(route.body) },
      },
      responses: {
        200: { description: '', ...(route.response === undefined ? {} : { content: contentOf(route.response) }) },
        ...(route.mayBeEmpty ? { 204: { description: '' } } : {}),
      },
    })
  }
  return app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } }) as OpenApiDocument
}

function contentOf(schema: z.ZodType | string) {
  return typeof schema === 'string' ? { [schema]: { schema: z.any() } } : { 'application/json': { schema } }
}

/**
 * What a client must know of each operation, with references resolved: schemas of query, headers, body and success. Statuses, descriptions and failures are described by the server alone.
 */
function describedOperations(document: OpenApiDocument): Record<string, object> {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method] !== undefined)
      .map((method): [string, object] => [`${method.toUpperCase()} ${path}`, described(item[method], document)]),
  )
  return Object.fromEntries(operations.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function described({ parameters = [], requestBody, responses = {} }: Operation, document: OpenApiDocument): object {
  const resolve = (schema: unknown) => plain(schema, document.components?.schemas ?? {})
  const parametersIn = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, schema }) => ({ name, required, schema: resolve(schema) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  const content = ({ content = {} }: Content) => {
    const types = Object.keys(content).sort()
    if (types.includes('application/json')) return resolve(content['application/json'].schema)
    return types.length > 1 ? types[0].replace(/[/].*/, '/*') : types[0]
  }
  const successes = Object.keys(responses).filter((status) => status.startsWith('2'))
  const contents = successes.filter((status) => responses[status].content !== undefined)
  return {
    query: parametersIn('query'),
    header: parametersIn('header'),
    body: requestBody === undefined ? null : { required: requestBody.required, content: content(requestBody) },
    response: contents.map((status) => content(responses[status]))[0] ?? null,
    differing: contents.filter(
      (status) => !isDeepStrictEqual(responses[status].content, responses[contents[0]].content),
    ),
    mayBeEmpty: contents.length < Math.max(successes.length, 1),
  }
}

/** Without what is for readers only, and with each reference replaced by what it names. */
function plain(value: unknown, schemas: Record<string, unknown>, within: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, schemas, within))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, description: _, example: __, ...rest } = value as Record<string, unknown>
  const named = typeof $ref === 'string' ? $ref.replace('#/components/schemas/', '') : undefined
  const resolved =
    named === undefined ? {} : within.includes(named) ? { $ref } : plain(schemas[named], schemas, [...within, named])
  const entries = Object.entries(rest)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, plain(part, schemas, within)])
  return { ...(resolved as object), ...Object.fromEntries(entries) }
}
