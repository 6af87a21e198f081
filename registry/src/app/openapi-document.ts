import { errorCatalogue } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../core/http/env.ts'

export type OpenApiDocument = ReturnType<OpenAPIHono<Env>['getOpenAPI31Document']>

/** Groups of the reference, in its order, with the first parts of the paths that belong to each. */
const groups: { name: string; description: string; paths: string[] }[] = [
  {
    name: 'Packages',
    description: 'Find, read, publish and look after scenarios and agents.',
    paths: ['packages', 'categories', 'search'],
  },
  {
    name: 'Accounts',
    description: 'Users, organisations, sessions and tokens.',
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
    description: 'Runs on shared workers: start, watch, stop, evaluate, export. The same by JSON-RPC 2.0 at `/rpc`.',
    paths: ['runs', 'evaluations', 'status', 'rpc'],
  },
  {
    name: 'Hosting',
    description:
      'Agents that the marketplace runs: call one (`/v1/packages/{scope}/{name}/calls`), or ask in the manner of OpenAI’s API.',
    paths: ['chat', 'models'],
  },
  {
    name: 'Market',
    description: 'Buying and selling: orders, money, earnings, reviews, moderation, metered calls.',
    paths: [
      ...['orders', 'entitlements', 'spend-caps', 'balance', 'top-ups', 'payments', 'webhooks'],
      ...['earnings', 'earnings.csv', 'payout-destination', 'payouts'],
      ...['reviews', 'reports', 'usage-events', 'call-allowance'],
    ],
  },
  {
    name: 'Jobs',
    description: 'What workers ask for: leases, heartbeats, results. Needs a token with the scope `worker`.',
    paths: ['jobs', 'hosted-calls'],
  },
  { name: 'Server', description: 'Whether it lives and can serve.', paths: ['healthz', 'readyz', 'openapi.json'] },
]

const description = `Everything is JSON in snake_case. Times are ISO 8601 in UTC, sizes bytes, money minor units of its currency.

Send a token as \`Authorization: Bearer agt_…\`; \`POST /v1/tokens\` makes one, \`agentgym login\` as well. Browsers carry a session cookie instead.

A failure is \`{ "error": { "code", "message", "hint", "data" } }\`. Codes are stable, messages are not: match on the code.

Lists come in pages: give \`next_cursor\` of one as \`cursor\` of the next, until it is null.

A package's name is \`@scope/name\`; in a path \`@scope/name\`, \`@scope%2fname\` and \`@scope%2Fname\` are the same.`

/** The description of all routes of `app`, from the schemas that validate its requests. */
export function buildOpenApiDocument(app: OpenAPIHono<Env>, publicUrl: string, version: string): OpenApiDocument {
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'agt_…',
    description: 'A token of an account, with scopes.',
  })
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

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

function groupOf(path: string): string {
  const [first, second] = path.split('/').filter((part) => part !== '')
  const subject = first === 'v1' ? second : first
  return groups.find(({ paths }) => paths.includes(subject))?.name ?? 'Server'
}

/** A route that can answer `unauthenticated` needs a token; elsewhere in the API one may show more. */
function securityOf(path: string, responses: object | undefined): Record<string, string[]>[] {
  if (responses !== undefined && '401' in responses) return [{ token: [] }]
  return path.startsWith('/v1/') ? [{}, { token: [] }] : []
}

/** `getOrganisationsByName` where a route gives itself no name. */
function operationIdOf(method: string, path: string): string {
  const words = path
    .split(/[/._-]/)
    .filter((part) => part !== '' && part !== 'v1')
    .map((part) => part.replace(/^\{(\w+).*\}$/, 'by-$1'))
    .flatMap((part) => part.split('-'))
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The catalogue by status, for the page of errors. */
export function errorRows(): { code: string; status: number; summary: string }[] {
  return Object.entries(errorCatalogue)
    .map(([code, { status, summary }]) => ({ code, status, summary }))
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
}
