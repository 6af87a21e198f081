import { errorCatalog } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Env } from '../core/http/env.ts'
import { type Html, page, prose } from '../core/http/pages/page.ts'
import { operationSection, type ReferenceOperation, type SchemaComponents } from './pages/operation-section.ts'

export type OpenApiDocument = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>

/** Groups of the reference, in display order, with the path prefixes of each. */
const groups: { name: string; description: string; paths: string[] }[] = [
  {
    name: 'Packages',
    description: 'Search, read, publish and manage scenarios and agents.',
    paths: ['packages', 'package-names', 'categories', 'search'],
  },
  {
    name: 'Accounts',
    description: 'Users, organizations, sessions and tokens.',
    paths: [
      'accounts',
      'account',
      'sessions',
      'tokens',
      'organisations',
      'email-verifications',
      'password-resets',
      'device-codes',
      'oauth',
    ],
  },
  {
    name: 'Training',
    description:
      'Training runs on shared workers: start, watch, cancel, evaluate and export. Also available as JSON-RPC 2.0 at `/rpc`.',
    paths: ['runs', 'evaluations', 'status', 'rpc'],
  },
  {
    name: 'Hosting',
    description:
      'Call hosted agents, directly (`/v1/packages/{scope}/{name}/calls`) or with an OpenAI-compatible client.',
    paths: ['chat', 'models'],
  },
  {
    name: 'Market',
    description: 'Orders, payments, earnings, reviews, moderation and metered calls.',
    paths: [
      ...['orders', 'entitlements', 'spend-caps', 'balance', 'top-ups', 'payments', 'webhooks'],
      ...['earnings', 'earnings.csv', 'payout-destination', 'payouts'],
      ...['reviews', 'reports', 'usage-events', 'call-allowance'],
    ],
  },
  {
    name: 'Jobs',
    description: 'For workers: leases, heartbeats and results. Requires a token with the scope `worker`.',
    paths: ['jobs', 'hosted-calls'],
  },
  { name: 'Server', description: 'Liveness and readiness.', paths: ['healthz', 'readyz', 'openapi.json'] },
]

const description = `All requests and responses are JSON in snake_case. Times are ISO 8601 in UTC, sizes are in bytes, and amounts are in minor units of their currency.

Authenticate with \`Authorization: Bearer agt_…\`. Create a token with \`POST /v1/tokens\` or \`agentgym login\`. Browsers use a session cookie instead.

Errors are \`{ "error": { "code", "message", "hint", "data" } }\`. Codes are stable, messages are not, so match on the code.

Lists are paginated: pass \`next_cursor\` as \`cursor\` to get the next page. It is null on the last one.

Package names have the form \`@scope/name\`. In a path, \`@scope/name\`, \`@scope%2fname\` and \`@scope%2Fname\` are equivalent.`

/** A page of the API reference, without header and footer. */
type ReferencePage = { title: string; body: Html }

/** The OpenAPI document and the reference pages: the same for every caller, and built once, on the first request. */
export class Documentation {
  readonly #app: OpenAPIHono<Env>
  readonly #publicUrl: string
  readonly #version: string
  #document: OpenApiDocument | undefined
  #pages: Map<string, ReferencePage> | undefined

  constructor(app: OpenAPIHono<Env>, publicUrl: string, version: string) {
    this.#app = app
    this.#publicUrl = publicUrl
    this.#version = version
  }

  document(): OpenApiDocument {
    this.#document ??= buildOpenApiDocument(this.#app, this.#publicUrl, this.#version)
    return this.#document
  }

  /** The page at that path, such as `/docs/api/packages`. */
  page(path: string): ReferencePage | undefined {
    this.#pages ??= referencePages(this.document())
    return this.#pages.get(path)
  }
}

/** The description of all routes of `app`, from the schemas that validate its requests. */
export function buildOpenApiDocument(app: OpenAPIHono<Env>, publicUrl: string, version: string): OpenApiDocument {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'agt_…',
    description: 'An access token. Its scopes limit what it can do.',
  })
  registerSchemas(app.openAPIRegistry)
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'AgentGym',
      version,
      description,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: publicUrl }],
    tags: groups.map(({ name, description }) => ({ name, description })),
  })
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of methods) {
      const operation = item[method]
      if (operation === undefined) continue
      operation.tags ??= [groupOf(path)]
      operation.operationId ??= operationIdOf(method, path)
      operation.security ??= securityOf(path, operation.responses)
    }
  }
  return document
}

/**
 * Registers every named schema that routes use. A component takes the form of its first use, which may be nullable, so
 * each is used once as itself before the routes.
 */
function registerSchemas(registry: OpenAPIHono<Env>['openAPIRegistry']): void {
  const seen = new Set<unknown>()
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return
    seen.add(part)
    if (!(part instanceof z.ZodType)) {
      Object.values(part).forEach(visit)
      return
    }
    const { id } = part.meta() ?? {}
    // A copy, because the contract's schemas do not know OpenAPI.
    if (id !== undefined) registry.register(id, part.clone())
    visit(part instanceof z.ZodLazy ? part.unwrap() : part.def)
  }
  for (const definition of registry.definitions) if (definition.type === 'route') visit(definition.route)
}

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function groupOf(path: string): string {
  const [first, second] = path.split('/').filter((part) => part !== '')
  const subject = first === 'v1' ? second : first
  return groups.find(({ paths }) => paths.includes(subject))?.name ?? 'Server'
}

/** Routes that can answer `unauthenticated` require a token. For the others it is optional and may show more. */
function securityOf(path: string, responses: object | undefined): Record<string, string[]>[] {
  if (responses !== undefined && '401' in responses) return [{ token: [] }]
  return path.startsWith('/v1/') ? [{}, { token: [] }] : []
}

/** Default operation ID: `getOrganisationsByName`. */
function operationIdOf(method: string, path: string): string {
  const words = path
    .split(/[/._-]/)
    .filter((part) => part !== '' && part !== 'v1')
    .map((part) => part.replace(/^\{(\w+).*\}$/, 'by-$1'))
    .flatMap((part) => part.split('-'))
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The error catalog by status, for the page of error codes. */
function errorRows(): { code: string; status: number; summary: string }[] {
  return Object.entries(errorCatalog)
    .map(([code, { status, summary }]) => ({ code, status, summary }))
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
}

/** The home page of a server without the site: what it is, and links. */
export function homePage(publicUrl: string, version: string): Html {
  const body = html`
<h1>AgentGym registry</h1>
<p class="lead">Scenarios to train agents on, and the agents trained on them, as packages. Version ${version}.</p>
<h2>Use it</h2>
<pre><code>export AGENTGYM_SERVER=${publicUrl}
agentgym signup --username you --email you@example.com
agentgym login
agentgym search cart
agentgym train @you/cart-pole</code></pre>
<p>npm and pnpm work too. <code>agentgym login</code> adds the line they need to <code>.npmrc</code>:</p>
<pre><code>@you:registry=${publicUrl}/npm/</code></pre>
<h2>Endpoints</h2>
<div class="scroll" tabindex="0"><table>
<tr><td><a href="/docs/api">/docs/api</a></td><td>API reference</td></tr>
<tr><td><a href="/v1/openapi.json">/v1/openapi.json</a></td><td>OpenAPI 3.1 document</td></tr>
<tr><td><code>/npm/</code></td><td>npm registry</td></tr>
<tr><td><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a></td><td>Liveness and readiness</td></tr>
</table></div>`
  return page({ title: 'AgentGym registry', body })
}

type Group = { name: string; slug: string; description: string; operations: ReferenceOperation[] }

/** The reference pages by path. */
function referencePages(document: OpenApiDocument): Map<string, ReferencePage> {
  const groups = groupsOf(document)
  const components = (document.components?.schemas ?? {}) as SchemaComponents
  const server = document.servers?.[0]?.url ?? ''
  const pages = new Map<string, ReferencePage>()
  const add = (address: string, title: string, body: Html) =>
    pages.set(address, { title, body: frame(groups, address, body) })
  add('/docs/api', 'API reference', overview(document, groups))
  add('/docs/api/errors', 'Error codes', errorPage())
  for (const { name, slug, description, operations } of groups) {
    const sections = operations.map((operation) => operationSection(operation, components, server))
    add(`/docs/api/${slug}`, name, html`<h1>${name}</h1>${prose(description)}${sections}`)
  }
  return pages
}

function groupsOf(document: OpenApiDocument): Group[] {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method): ReferenceOperation[] => {
      const operation = item[method]
      return operation === undefined ? [] : [{ ...operation, method, path } as ReferenceOperation]
    }),
  )
  return (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const own = operations.filter(({ tags }) => tags?.[0] === name)
    return own.length === 0 ? [] : [{ name, slug: name.toLowerCase(), description, operations: own }]
  })
}

function frame(groups: Group[], address: string, body: Html): Html {
  const link = (to: string, text: string) =>
    html`<li><a href="${to}"${to === address ? html` aria-current="page"` : ''}>${text}</a></li>`
  const lists = groups.map(({ name, slug, operations }) => {
    const here = address === `/docs/api/${slug}`
    const inner = operations.map(({ operationId, summary }) => link(`#${operationId}`, summary ?? operationId))
    return html`<ul>${link(`/docs/api/${slug}`, name)}${here ? inner : ''}</ul>`
  })
  return html`<div class="columns">
<nav aria-label="Reference"><ul>${link('/docs/api', 'Overview')}${link('/docs/api/errors', 'Error codes')}</ul>${lists}</nav>
<article>${body}</article>
</div>`
}

function overview({ info }: OpenApiDocument, groups: Group[]): Html {
  const tables = groups.map(
    ({ name, slug, operations }) => html`<h2><a href="/docs/api/${slug}">${name}</a></h2>
<div class="scroll" tabindex="0"><table>${operations.map(
      ({ method, path, operationId, summary }) => html`<tr>
<td class="path"><span class="method">${method.toUpperCase()}</span><a href="/docs/api/${slug}#${operationId}">${path}</a></td>
<td>${summary ?? ''}</td></tr>`,
    )}</table></div>`,
  )
  return html`<h1>API reference</h1>
<p class="lead">Version ${info.version}. Also available as <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${prose(info.description ?? '')}${tables}`
}

function errorPage(): Html {
  return html`<h1>Error codes</h1>
<p>Errors are <code>{ "error": { "code", "message", "hint", "data" } }</code> with the status below. Codes are stable.</p>
<div class="scroll" tabindex="0"><table><tr><th>Status</th><th>Code</th><th>Meaning</th></tr>
${errorRows().map(
  ({ code, status, summary }) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${summary}</td></tr>`,
)}
</table></div>`
}
