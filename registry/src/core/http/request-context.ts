import { randomUUID } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { RequestTracer } from '../observability/tracing.ts'
import type { Log, ServerConfig, Services } from '../services.ts'
import { clientAddress, isLocalRequest } from './client-address.ts'
import type { Env, RequestReader, RouteRules } from './env.ts'
import { readMatch } from './route.ts'

/** Sets every request's ID and client address, and logs the request once it is answered. */
export function requestContext(config: Pick<ServerConfig, 'trustedProxies'>, log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedMs = performance.now()
    // Without a socket, as in `app.request`, there is no address.
    const socketAddress = c.env?.incoming?.socket.remoteAddress ?? '0.0.0.0'
    const siteCall = c.env?.siteCall
    c.set('ip', siteCall?.ip ?? clientAddress(socketAddress, c.req.header('x-forwarded-for'), config.trustedProxies))
    c.set('requestId', siteCall?.requestId ?? requestIdOf(c, config.trustedProxies))
    c.set('actor', null)
    const { rules, patterns } = readMatch(c)
    c.set('rules', rules)
    c.set('patterns', patterns)
    await next()
    c.res.headers.set('x-request-id', c.get('requestId'))
    // Refused before the whole body arrived. The rest is not read, so the connection can't be reused.
    if (c.res.status >= 400 && c.env?.incoming?.complete === false) c.res.headers.set('connection', 'close')
    // The site made this request to render a page, which has its own log line.
    if (isUnlogged(rules, c.res.status) || (siteCall !== undefined && c.res.status < 500)) return
    log.info('request', {
      request_id: c.get('requestId'),
      method: c.req.method,
      path: loggedPath(c),
      ...subjectOf(c),
      status: c.res.status,
      duration_ms: Math.round((performance.now() - startedMs) * 10) / 10,
      ip: c.get('ip'),
      actor: c.get('actor')?.username,
      trace_id: currentTraceId(c),
    })
  }
}

/** The ID from a trusted proxy is kept, so that a request has one ID in all logs. An ID from a client is not. */
function requestIdOf(c: Context<Env>, trustedProxies: number): string {
  const given = trustedProxies > 0 ? c.req.header('x-request-id') : undefined
  return given !== undefined && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
}

function isUnlogged({ unlogged }: RouteRules, status: number): boolean {
  return unlogged === 'when_empty' ? status === 204 : unlogged === 'on_success' && status < 400
}

/**
 * The path, or its pattern if a parameter of it is marked as secret. The query is never logged: it may contain OAuth
 * codes.
 */
function loggedPath(c: Context<Env>): string {
  const pattern = routePattern(c)
  return /[:{][a-z_]*(token|code|secret)/i.test(pattern) ? pattern : c.req.path.slice(0, 300)
}

/** Counts every request, and traces it if tracing is on. */
export function observeRequests(
  { config, metrics }: Pick<Services, 'config' | 'metrics'>,
  tracer: RequestTracer | undefined,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedMs = performance.now()
    const span = tracer?.start({
      method: c.req.method,
      requestId: c.get('requestId'),
      traceparent: c.env?.siteCall?.traceparent ?? c.req.header('traceparent'),
      // As with X-Request-Id: headers through a trusted proxy are trusted. So are those of a worker beside this
      // process.
      trusted: config.trustedProxies > 0 || c.env?.siteCall !== undefined || isLocalRequest(c),
    })
    if (span !== undefined) c.set('traceparent', span.traceparent)
    await next()
    const { status } = c.res
    const route = routePattern(c)
    metrics.request({ method: c.req.method, route, status }, (performance.now() - startedMs) / 1000)
    span?.end({ route, status, subject: subjectOf(c) })
  }
}

/** Pattern of the matched route: `/v1/runs/:id`, or `unmatched`. */
function routePattern(c: Context<Env>): string {
  const page = c.get('pageRoute')
  if (page !== undefined) return page
  const patterns = c.get('patterns')
  // After the answer, the current handler is the last one reached: a middleware if it refused the request.
  const answered = patterns.at(c.req.routeIndex) ?? ''
  return isPattern(answered) ? answered : (patterns.findLast(isPattern) ?? 'unmatched')
}

function isPattern(pattern: string): boolean {
  return pattern !== '/*' && pattern !== '*'
}

/** Attributes of a request for logs and traces. */
function subjectOf(c: Context<Env>): { run_id?: string; job_id?: string } {
  const { subject } = c.get('rules')
  const pathId = subject && pathParameter(c, ':id')
  const runId = c.get('runId') ?? (subject === 'run' ? pathId : undefined)
  const jobId = c.get('jobId') ?? (subject === 'job' ? pathId : undefined)
  return { ...(isId(runId) && { run_id: runId }), ...(isId(jobId) && { job_id: jobId }) }
}

function pathParameter(c: Context<Env>, name: string): string | undefined {
  return c.req.path.split('/')[routePattern(c).split('/').indexOf(name)]
}

function isId(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f-]{36}$/i.test(text)
}

/**
 * W3C `traceparent` of the current request, to be stored with the work it queues, so that the worker continues the same
 * trace. Null if tracing is off.
 */
export function currentTraceparent(c: RequestReader): string | null {
  return c.get('traceparent') ?? null
}

/** The trace's ID, for logs; undefined if tracing is off. */
export function currentTraceId(c: Context<Env>): string | undefined {
  return c.get('traceparent')?.split('-')[1]
}

/** CSP of our pages: own stylesheet, fonts, images and form targets. No scripts. */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** CSP of data: a browser that displays it may load and run nothing. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Headers on every response. Routes can override them. */
export function securityHeaders({ secure }: Pick<ServerConfig, 'secure'>): MiddlewareHandler<Env> {
  const fixed: [name: string, value: string][] = [
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'strict-origin-when-cross-origin'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['x-frame-options', 'DENY'],
    ...(secure ? [['strict-transport-security', 'max-age=31536000; includeSubDomains'] as [string, string]] : []),
  ]
  return async (c, next) => {
    await next()
    // Read by the site of this process, which is not a browser; the headers are set on the page that it renders.
    if (c.env?.siteCall !== undefined) return
    const { headers } = c.res
    for (const [name, value] of fixed) if (!headers.has(name)) headers.set(name, value)
    const isPage = headers.get('content-type')?.startsWith('text/html') ?? false
    if (!headers.has('content-security-policy'))
      headers.set('content-security-policy', isPage ? pagePolicy : dataPolicy)
    // Answers depend on the caller: they are not cached unless the route allows it.
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  }
}
