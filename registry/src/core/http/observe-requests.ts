import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes, routePath } from 'hono/route'
import type { RequestTracer } from '../observability/request-tracer.ts'
import type { Services } from '../services.ts'
import type { Env } from './env.ts'
import { isLocalRequest } from './local-request.ts'

/** Counts every request, and makes a span of it where tracing is on. */
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
      // As with X-Request-Id: what comes through a trusted proxy is believed. So is a worker beside this process.
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

/** Pattern of the route that answered, or would have: `/v1/runs/:id`. `unmatched` where there is none. */
export function routePattern(c: Context<Env>): string {
  const page = c.get('pageRoute')
  if (page !== undefined) return page
  // Once it has been answered, the current handler is the one that came last: a middleware where that refused it.
  const patterns = [...matchedRoutes(c).map(({ path }) => path), routePath(c)]
  return patterns.findLast((pattern) => pattern !== '/*' && pattern !== '*') ?? 'unmatched'
}

/** What a request is about, as logs and traces name it. */
export function subjectOf(c: Context<Env>): { run_id?: string; job_id?: string } {
  const [, root, room] = c.req.path.split('/')
  const id = c.req.path.split('/')[3]
  const runId = c.get('runId') ?? (root === 'v1' && room === 'runs' ? id : undefined)
  const jobId = c.get('jobId') ?? (root === 'v1' && room === 'jobs' ? id : undefined)
  return { ...(isId(runId) && { run_id: runId }), ...(isId(jobId) && { job_id: jobId }) }
}

function isId(text: string | undefined): text is string {
  return text !== undefined && /^[0-9a-f-]{36}$/i.test(text)
}
