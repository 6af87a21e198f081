import { randomUUID } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { Log, ServerConfig } from '../services.ts'
import { clientAddress } from './client-address.ts'
import { currentTraceId } from './current-traceparent.ts'
import type { Env } from './env.ts'
import { routePattern, subjectOf } from './observe-requests.ts'

/** Gives every request its id and its client's address, and notes it in the log when it is answered. */
export function requestContext(config: Pick<ServerConfig, 'trustedProxies'>, log: Log): MiddlewareHandler<Env> {
  return async (c, next) => {
    const startedMs = performance.now()
    // Where the server is called without a socket, as `app.request` does, there is no address.
    const socketAddress = c.env?.incoming?.socket.remoteAddress ?? '0.0.0.0'
    const siteCall = c.env?.siteCall
    c.set('ip', siteCall?.ip ?? clientAddress(socketAddress, c.req.header('x-forwarded-for'), config.trustedProxies))
    c.set('requestId', siteCall?.requestId ?? requestIdOf(c, config.trustedProxies))
    c.set('actor', null)
    await next()
    c.res.headers.set('x-request-id', c.get('requestId'))
    // Refused before all of its body was there: nobody reads the rest, so the connection is of no further use.
    if (c.res.status >= 400 && c.env?.incoming?.complete === false) c.res.headers.set('connection', 'close')
    // What the site asked on the way to a page: the page has its own line.
    if (isRoutine(c.req.path, c.res.status) || (siteCall !== undefined && c.res.status < 500)) return
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

/** A proxy's id is kept, so that one request has one id in all logs; a client's own is not. */
function requestIdOf(c: Context<Env>, trustedProxies: number): string {
  const given = trustedProxies > 0 ? c.req.header('x-request-id') : undefined
  return given !== undefined && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID()
}

/** Probes and scrapes that find all well, workers that find nothing to do or go on: several a second, and no news. */
function isRoutine(path: string, status: number): boolean {
  if (path === '/v1/jobs/lease' || path === '/v1/hosted-calls/lease') return status === 204
  return status < 400 && (isProbe(path) || /^\/v1\/jobs\/[^/]+\/(heartbeat|progress)$/.test(path))
}

function isProbe(path: string): boolean {
  return path === '/healthz' || path === '/readyz' || path === '/metrics'
}

/** The path, or its pattern where a part of it is secret. The query is never logged: codes of OAuth stand there. */
function loggedPath(c: Context<Env>): string {
  const pattern = routePattern(c)
  return /[:{][a-z_]*(token|code|secret)/i.test(pattern) ? pattern : c.req.path.slice(0, 300)
}
