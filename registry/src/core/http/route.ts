import { AgentGymError, type ErrorCode, errorCatalog, errorResponseSchema } from '@agentgym/contract'
import { createRoute, OpenAPIHono, type RouteConfig, z } from '@hono/zod-openapi'
import type { Context, Handler, Hono, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { type Actor, confirmedScopes } from '../access/authorize.ts'
import type { Env, RouteRules } from './env.ts'

/** Rules of requests without a route, such as those of the site. */
const defaultRules: RouteRules = { access: 'anyone' }

type Declared = MiddlewareHandler<Env> & { rules: RouteRules }

/** Declares the rules of a route that OpenAPI does not describe: `routes.get(path, declare({ … }), handler)`. */
export function declare(rules: RouteRules): MiddlewareHandler<Env> {
  const declaration: MiddlewareHandler<Env> = (_c, next) => next()
  return Object.assign(declaration, { rules })
}

/** For routes that require an account: `requireAccess` has refused anonymous callers before the handler. */
type KnownCaller = { middleware: MiddlewareHandler<{ Variables: { actor: Actor } }> }

type Described<R> = R & (R extends { access: 'anyone' } ? unknown : KnownCaller)

/** A documented route and its rules. Unless its access is `anyone`, `c.get('actor')` in its handler is never null. */
export function defineRoute<const P extends string, const R extends Omit<RouteConfig, 'path'> & { path: P }>(
  route: R & RouteRules,
): ReturnType<typeof createRoute<P, Described<R>>> {
  const {
    access,
    secondFactor,
    bodyLimit,
    timeoutMs,
    rateLimit,
    csrf,
    unlogged,
    subject,
    failureFormat,
    yieldsToSite,
    ...described
  } = route
  const rules = {
    access,
    secondFactor,
    bodyLimit,
    timeoutMs,
    rateLimit,
    csrf,
    unlogged,
    subject,
    failureFormat,
    yieldsToSite,
  }
  // The middleware only carries the rules. `requireAccess` guarantees what it adds to the handlers' types.
  const responses = withConfirmation(described.responses, access)
  return createRoute({ ...described, responses, middleware: declare(rules as RouteRules) } as unknown as Described<R>)
}

/** Documents the response to a caller with an unconfirmed email address. */
function withConfirmation(responses: RouteConfig['responses'], access: RouteRules['access']): RouteConfig['responses'] {
  if (typeof access !== 'string' || !confirmedScopes.has(access)) return responses
  const { 403: refused = { description: '' } } = responses
  const { description } = refused as { description: string }
  const summary = `\`email_unconfirmed\`: ${errorCatalog.email_unconfirmed.summary}`
  return {
    ...responses,
    403: { ...failures('email_unconfirmed')[403], description: `${description} ${summary}`.trim() },
  }
}

/** Rules of the matched route, or the defaults, and all matched patterns. */
export function readMatch(c: Context<Env>): { rules: RouteRules; patterns: string[] } {
  const matched = matchedRoutes(c)
  const rules = matched.map(({ handler }) => rulesOf(handler)).find((rules) => rules !== undefined)
  return { rules: rules ?? defaultRules, patterns: matched.map(({ path }) => path) }
}

/** The rules that a handler carries; undefined unless it was made by `declare`. */
export function rulesOf(handler: Handler): RouteRules | undefined {
  return (handler as Handler & Partial<Declared>).rules
}

/** Routes of an app without declared rules, as `METHOD /path`. */
export function undeclaredRoutes(app: Pick<Hono<Env>, 'routes'>): string[] {
  const declared = new Map<string, boolean>()
  for (const { method, path, handler } of app.routes) {
    const route = `${method} ${path}`
    if (path === '/*' || path === '*') continue
    declared.set(route, declared.get(route) || rulesOf(handler) !== undefined)
  }
  return [...declared].filter(([, has]) => !has).map(([route]) => route)
}

/**
 * An app for one module's routes. Requests that do not match a route's schema throw `request_invalid`, which the server
 * turns into a response like every AgentGymError.
 */
export function createRoutes(): OpenAPIHono<Env> {
  return new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw requestInvalid(result.error, result.target)
    },
  })
}

/** JSON content of a body, for a route's description. */
export const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': { schema } })

/** Content that is not JSON. */
export const file = { schema: z.any().openapi({ type: 'string', format: 'binary' }) }

/** `request_invalid`, naming the first invalid field and listing all of them. */
export function requestInvalid(error: z.core.$ZodError, target: string): AgentGymError {
  const fields = error.issues.flatMap(fieldsOf)
  const [{ field, message }] = fields
  const where =
    field === '' ? `The ${places[target] ?? target}` : `The field "${field}" of the ${places[target] ?? target}`
  return new AgentGymError({
    code: 'request_invalid',
    message: `${where} is invalid: ${message}.`,
    data: { field, in: target, fields },
  })
}

const places: Record<string, string> = {
  json: 'body',
  form: 'form',
  query: 'query',
  param: 'path',
  header: 'headers',
  cookie: 'cookies',
}

function fieldsOf(issue: z.core.$ZodIssue): { field: string; message: string }[] {
  const parent = issue.path.join('.')
  const message = issue.message.replace(/\.$/, '')
  if (issue.code !== 'unrecognized_keys') return [{ field: parent, message }]
  return issue.keys.map((key) => ({
    field: parent === '' ? key : `${parent}.${key}`,
    message: 'unknown field',
  }))
}

/** A request that does not match its schema, a bug, an outage. */
const everywhere = [
  ...(['request_invalid', 'internal_error'] as const),
  ...(['database_unavailable', 'storage_unavailable', 'request_timeout'] as const),
]

type DocumentedFailure = {
  description: string
  content: { 'application/json': { schema: typeof errorResponseSchema } }
}

/**
 * The error responses of a route, for its `responses`: `...failures('package_not_found', 'forbidden')`. Codes with the
 * same status share a response. Codes that any route can return are added.
 */
export function failures(...codes: ErrorCode[]): Record<number, DocumentedFailure> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set<ErrorCode>([...codes, ...everywhere])) {
    const { status } = errorCatalog[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const entries = [...byStatus].map(([status, group]) => [
    status,
    {
      description: group.map((code) => `\`${code}\`: ${errorCatalog[code].summary}`).join(' '),
      content: { 'application/json': { schema: errorResponseSchema } },
    },
  ])
  return Object.fromEntries(entries)
}

/**
 * Time limit of routes with large bodies over slow connections. Node's own limit on receiving a request, 5 minutes,
 * comes first.
 */
export const uploadTimeoutMs = 10 * 60_000
