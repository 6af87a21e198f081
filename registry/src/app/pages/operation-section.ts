import { html } from 'hono/html'
import type { Html } from '../../core/http/pages/page.ts'
import { inline, nothing, prose } from '../../core/http/pages/prose.ts'
import { exampleOf, type FieldRow, fieldRows, type JsonSchema, type SchemaComponents, typeOf } from './schema-fields.ts'

type Content = Record<string, { schema?: JsonSchema }>
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema?: JsonSchema }

/** The parts of an OpenAPI operation that the reference shows, with where it stands. */
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
<pre><code>${curl(operation, components, server)}</code></pre>
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
<div class="scroll"><table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>
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
<div class="scroll"><table>${failures.map(
    ([status, { description }]) => html`<tr><td class="failure">${status}</td><td>${inline(description)}</td></tr>`,
  )}</table></div></details>`
}

/** The request as a command, with placeholders that a reader recognises. */
function curl(operation: ReferenceOperation, components: SchemaComponents, server: string): string {
  const { method, path, requestBody, security = [] } = operation
  const address = path.replace(/\{(\w+)[^}]*\}/g, (_, name: string) => pathExamples[name] ?? name.toUpperCase())
  const parts = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${server}${address}`]
  // `{}` among them: it works without one.
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
