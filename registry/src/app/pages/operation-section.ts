import { html } from 'hono/html'
import { type Html, inline, nothing, prose } from '../../core/http/pages/page.ts'

type Content = Record<string, { schema?: JsonSchema }>
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: JsonSchema }

/** The parts of an OpenAPI operation that the reference shows, with its path and method. */
export type ReferenceOperation = {
  method: string
  path: string
  operationId: string
  tags?: string[]
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content; required?: boolean }
  responses: Record<string, { description: string; content?: Content }>
  security?: Record<string, string[]>[]
}

export function operationSection(operation: ReferenceOperation, components: SchemaComponents, server: string): Html {
  const { method, path, operationId, summary, description = '', parameters = [], requestBody, responses } = operation
  const parts = [
    section('Parameters', parameterRows(parameters, components)),
    ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
      bodySection('Body', type, schema, components),
    ),
    ...Object.entries(responses)
      .filter(([status]) => Number(status) < 400)
      .flatMap(([status, response]) => successSections(status, response, components)),
    failureSection(responses),
  ]
  return html`<section class="operation" id="${operationId}">
<h2>${summary ?? operationId}</h2>
<p class="path"><span class="method">${method.toUpperCase()}</span>${path}</p>
${prose(description)}
<pre tabindex="0"><code>${curl(operation, components, server)}</code></pre>
${parts}
</section>`
}

function parameterRows(parameters: Parameter[], components: SchemaComponents): FieldRow[] {
  return parameters.map(({ name, in: place, required = false, description, schema = {} }) => ({
    field: name,
    type: `${place}: ${typeOf(schema, components)}`,
    required,
    description: description ?? schema.description ?? '',
  }))
}

function bodySection(title: string, type: string, schema: JsonSchema | undefined, components: SchemaComponents): Html {
  const rows = schema === undefined ? [] : fieldRows(schema, components)
  if (rows.length > 0) return section(`${title}, ${type}`, rows)
  return html`<h3>${title}, ${type}</h3>${schema === undefined ? nothing : html`<p class="type">${typeOf(schema, components)}</p>`}`
}

type Success = { description: string; content?: Content }

function successSections(status: string, { description, content = {} }: Success, components: SchemaComponents): Html[] {
  const bodies = Object.entries(content).map(([type, { schema }]) =>
    bodySection(`Answer ${status}`, type, schema, components),
  )
  const heading = bodies.length === 0 ? html`<h3>Answer ${status}</h3>` : nothing
  return [heading, ...bodies, html`<p class="lead">${inline(description)}</p>`]
}

function section(title: string, rows: FieldRow[]): Html {
  if (rows.length === 0) return nothing
  return html`<h3>${title}</h3>
<div class="scroll" tabindex="0"><table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>
${rows.map(
  ({ field, type, required, description }) => html`<tr>
<td><code>${field}</code>${required ? nothing : html` <span class="required">optional</span>`}</td>
<td class="type">${type}</td><td>${inline(description)}</td></tr>`,
)}
</table></div>`
}

function failureSection(responses: ReferenceOperation['responses']): Html {
  const failures = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  if (failures.length === 0) return nothing
  return html`<details><summary>Failures</summary>
<div class="scroll" tabindex="0"><table>${failures.map(
    ([status, { description }]) => html`<tr><td class="failure">${status}</td><td>${inline(description)}</td></tr>`,
  )}</table></div></details>`
}

/** The request as a curl command, with recognizable placeholders. */
function curl(operation: ReferenceOperation, components: SchemaComponents, server: string): string {
  const { method, path, requestBody, security = [] } = operation
  const address = path.replace(/\{(\w+)[^}]*\}/g, (_, name: string) => pathExamples[name] ?? name.toUpperCase())
  const parts = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${server}${address}`]
  // The alternative `{}` means that no token is needed.
  if (security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0))
    parts.push(`-H "authorization: Bearer $AGENTGYM_TOKEN"`)
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  if (type !== undefined) {
    parts.push(`-H 'content-type: ${type}'`)
    const example = exampleOf(media?.schema ?? {}, components)
    parts.push(type === 'application/json' ? `-d '${JSON.stringify(example)}'` : '--data-binary @package.tgz')
  }
  return parts.join(' \\\n  ')
}

const pathExamples: Record<string, string> = {
  scope: '@acme',
  name: 'cart-pole',
  package: '@acme/cart-pole',
  version: '1.0.0',
  tag: 'latest',
}

/** The subset of OpenAPI 3.1's JSON Schema that the reference shows. */
type JsonSchema = {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  enum?: unknown[]
  const?: unknown
  default?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  additionalProperties?: JsonSchema | boolean
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
}
export type SchemaComponents = Record<string, JsonSchema>

/** One line of a table of fields; `field` is a path such as `packages[].name`. */
type FieldRow = { field: string; type: string; required: boolean; description: string }

const DEEPEST = 4
/** Longer lists of values are cut. */
const MOST_VALUES = 12

/** The fields of a schema, those of objects within it as well, in the order in which they are declared. */
function fieldRows(schema: JsonSchema, components: SchemaComponents, prefix = '', depth = 0): FieldRow[] {
  const resolved = resolve(schema, components)
  if (resolved.items !== undefined) return fieldRows(resolved.items, components, `${prefix}[]`, depth)
  const required = new Set(resolved.required)
  return Object.entries(resolved.properties ?? {}).flatMap(([name, property]) => {
    const field = prefix === '' ? name : `${prefix}.${name}`
    const inner = resolve(property, components)
    const row = {
      field,
      type: typeOf(property, components),
      required: required.has(name),
      description: property.description ?? inner.description ?? '',
    }
    return depth === DEEPEST ? [row] : [row, ...fieldRows(inner, components, field, depth + 1)]
  })
}

/** Resolves a reference, or the only alternative that is not null. */
function resolve(schema: JsonSchema, components: SchemaComponents): JsonSchema {
  if (schema.$ref !== undefined) return resolve(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components)
  const real = alternatives(schema).filter(({ type }) => type !== 'null')
  if (real.length === 1) return { ...resolve(real[0], components), description: schema.description }
  if (schema.allOf !== undefined) return merge(schema.allOf.map((part) => resolve(part, components)))
  return schema
}

function alternatives({ anyOf, oneOf }: JsonSchema): JsonSchema[] {
  return anyOf ?? oneOf ?? []
}

function merge(parts: JsonSchema[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required ?? []),
  }
}

/** A type in a few words: `string, 3–32 characters`, `integer 1–100, default 20`, `"free" | "paid"`, `… or null`. */
function typeOf(schema: JsonSchema, components: SchemaComponents): string {
  const words = typeWords(schema, components)
  return schema.default === undefined ? words : `${words}, default ${JSON.stringify(schema.default)}`
}

function typeWords(schema: JsonSchema, components: SchemaComponents): string {
  if (schema.$ref !== undefined) return typeWords(resolve(schema, components), components)
  const choices = alternatives(schema)
  if (choices.length > 0) {
    const names = choices.map((choice) => (choice.type === 'null' ? 'null' : typeWords(choice, components)))
    return [...new Set(names)].join(' or ')
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return valueList(schema.enum)
  const types = [schema.type ?? 'any'].flat()
  return types.map((type) => oneType(type, schema, components)).join(' or ')
}

function valueList(values: unknown[]): string {
  const shown = values.slice(0, MOST_VALUES).map((value) => JSON.stringify(value))
  return `${shown.join(' | ')}${values.length > MOST_VALUES ? ` | … ${values.length - MOST_VALUES} more` : ''}`
}

function oneType(type: string, schema: JsonSchema, components: SchemaComponents): string {
  if (type === 'array')
    return `list of ${typeWords(schema.items ?? {}, components)}${range(schema.minItems, schema.maxItems)}`
  if (type === 'string' && schema.format !== undefined) return `string, ${schema.format}`
  if (type === 'string') {
    const length = range(schema.minLength, schema.maxLength)
    return length === '' ? 'string' : `string,${length} characters`
  }
  if (type === 'integer' || type === 'number') return `${type}${range(schema.minimum, schema.maximum)}`
  if (type === 'object' && typeof schema.additionalProperties === 'object' && schema.properties === undefined)
    return `map to ${typeWords(schema.additionalProperties, components)}`
  return type
}

function range(low: number | undefined, high: number | undefined): string {
  // zod bounds every integer by JavaScript's safe range, which is noise to readers.
  const from = low === undefined || low <= Number.MIN_SAFE_INTEGER ? undefined : low
  const to = high === undefined || high >= Number.MAX_SAFE_INTEGER ? undefined : high
  if (from === undefined && to === undefined) return ''
  if (from === undefined) return ` at most ${to}`
  return to === undefined ? ` at least ${from}` : ` ${from}–${to}`
}

/** An example value that matches the schema, or nearly. */
function exampleOf(schema: JsonSchema, components: SchemaComponents, name = '', depth = 0): unknown {
  const resolved = resolve(schema, components)
  if (resolved.default !== undefined) return resolved.default
  if (resolved.const !== undefined) return resolved.const
  if (resolved.enum !== undefined) return resolved.enum[0]
  if (resolved.items !== undefined) return [exampleOf(resolved.items, components, name, depth + 1)]
  if (resolved.properties !== undefined) {
    if (depth > DEEPEST) return {}
    const entries = Object.entries(resolved.properties)
    return Object.fromEntries(entries.map(([key, inner]) => [key, exampleOf(inner, components, key, depth + 1)]))
  }
  const [type] = [resolved.type ?? 'string'].flat()
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return Math.max(1, resolved.minimum ?? 1)
  if (type === 'object') return {}
  if (resolved.format === 'date-time') return '2026-01-31T12:00:00Z'
  return wellKnown[name] ?? '…'
}

const wellKnown: Record<string, string> = {
  username: 'acme',
  email: 'acme@example.com',
  name: '@acme/cart-pole',
  version: '1.0.0',
  title: 'Cart pole',
  kinds: 'check',
}
