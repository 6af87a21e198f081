import { z } from 'zod'
import { methods, type OpenApiDocument } from '../documentation.ts'

type Schemas = Record<string, unknown>
type Operation = {
  method: string
  pattern: RegExp
  path: string
  responses: Record<string, { content?: Record<string, { schema?: unknown }> }>
}

export type Call = { method?: string; body?: unknown; token?: string; headers?: Record<string, string> }

/**
 * Calls a server and checks each answer against the server's own description: the route must list the status, and the
 * body must match the schema for it. `seen` collects `METHOD path status` of each answer.
 */
export function conformingCalls(server: string, document: OpenApiDocument) {
  const operations = operationsOf(document)
  const schemas = (document.components?.schemas ?? {}) as Schemas
  const seen = new Set<string>()
  const call = async (address: string, { method = 'GET', body, token, headers = {} }: Call = {}) => {
    const binary = body instanceof Uint8Array
    const response = await fetch(server + address, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': binary ? 'application/octet-stream' : 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: binary ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    })
    const operation = operations.find((one) => one.method === method && one.pattern.test(address.split('?')[0]))
    if (operation === undefined) throw new Error(`${method} ${address} is not described`)
    const described = operation.responses[response.status]
    const text = await response.text()
    if (described === undefined)
      throw new Error(`${method} ${operation.path} does not describe ${response.status}: ${text}`)
    seen.add(`${method} ${operation.path} ${response.status}`)
    const type = response.headers.get('content-type')?.split(';')[0] ?? ''
    if (type !== 'application/json') return { status: response.status, headers: response.headers, body: text }
    const json: unknown = JSON.parse(text)
    hold(json, described.content?.[type]?.schema, schemas, `${method} ${operation.path} ${response.status}`)
    return { status: response.status, headers: response.headers, body: json }
  }
  return { call, seen }
}

function operationsOf(document: OpenApiDocument): Operation[] {
  const all = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const responses = item[method]?.responses
      if (responses === undefined) return []
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)
      return [{ method: method.toUpperCase(), path, pattern, responses: responses as Operation['responses'] }]
    }),
  )
  // `/v1/sessions/current` before `/v1/sessions/{id}`.
  return all.sort((a, b) => a.path.split('{').length - b.path.split('{').length)
}

function hold(body: unknown, schema: unknown, schemas: Schemas, what: string): void {
  if (schema === undefined) throw new Error(`${what} describes no JSON`)
  const parsed = z.fromJSONSchema(inlined(schema, schemas) as Parameters<typeof z.fromJSONSchema>[0]).safeParse(body)
  if (!parsed.success)
    throw new Error(`${what} is not as described: ${z.prettifyError(parsed.error)}\n${JSON.stringify(body)}`)
}

/** The schema with its references to components resolved: JSON Schema knows no components. */
function inlined(schema: unknown, schemas: Schemas): unknown {
  if (Array.isArray(schema)) return schema.map((part) => inlined(part, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Record<string, unknown>
  if (typeof $ref === 'string') return inlined(schemas[$ref.split('/').at(-1) ?? ''], schemas)
  return Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, inlined(part, schemas)]))
}
