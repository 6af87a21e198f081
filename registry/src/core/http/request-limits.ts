import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { timeout } from 'hono/timeout'
import { requireActor, requireOperator, requireSecondFactor, unauthenticated } from '../access/authorize.ts'
import { limitRate } from '../access/rate-limit.ts'
import type { Database } from '../database/database.ts'
import type { Dependencies } from '../dependencies/dependencies.ts'
import { type DependencyName, outageReport, RETRY_AFTER_SECONDS } from '../dependencies/outage.ts'
import type { ServerConfig } from '../services.ts'
import { clientNetwork } from './client-address.ts'
import type { Access, Env, RouteRules } from './env.ts'

const MEBIBYTE = 2 ** 20
const defaultBodyLimit = MEBIBYTE
const defaultTimeoutMs = 30_000

type Limits = Pick<ServerConfig, 'limits' | 'training'>

function bodyLimitOf({ bodyLimit = defaultBodyLimit }: RouteRules, config: Limits): number {
  return typeof bodyLimit === 'function' ? bodyLimit(config) : bodyLimit
}

/** Refuses a body that is too large before it is read; a body without a stated length is counted as it arrives. */
export function limitBodies(limits: Limits): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    const limit = bodyLimitOf(c.get('rules'), limits)
    const chunked = c.req.header('transfer-encoding') !== undefined
    const length = Number(c.req.header('content-length') ?? 0)
    if (!chunked) {
      if (length > limit) throw tooLarge(limit)
      return next()
    }
    const { body } = c.req.raw
    if (body === null) return next()
    let bytes = 0
    const counted = body.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          bytes += chunk.byteLength
          if (bytes > limit) controller.error(tooLarge(limit))
          else controller.enqueue(chunk)
        },
      }),
    )
    // Built from its parts: the platform's constructor does not accept the adaptor's Request.
    const { url, method, headers, signal } = c.req.raw
    c.req.raw = new Request(url, { method, headers, signal, body: counted, duplex: 'half' } as RequestInit)
    await next()
    // An aborted body is the actual cause, whatever error the handler threw.
    if (bytes > limit) throw tooLarge(limit)
  }
}

function tooLarge(limit: number): AgentGymError {
  return new AgentGymError({
    code: 'request_too_large',
    message: `The request body is larger than ${limit} bytes.`,
    data: { limit_bytes: limit },
  })
}

/**
 * Responds when the route's time limit is reached, even if its handler is still running. Work in progress is not
 * undone. If a dependency is down, the response names it.
 */
export function limitTime(dependencies: Pick<Dependencies, 'down'>): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { timeoutMs = defaultTimeoutMs } = c.get('rules')
    const timedOut = () => new AgentGymError(timeoutReport(timeoutMs, dependencies.down()))
    return timeout(timeoutMs, () => new HTTPException(503, { cause: timedOut() }))(c, next)
  }
}

function timeoutReport(timeoutMs: number, [down]: DependencyName[]): ErrorReport {
  if (down !== undefined) return outageReport(down)
  return {
    code: 'request_timeout',
    message: `The server did not finish this request within ${timeoutMs / 1000} s.`,
    hint: 'Try again later.',
    data: { retry_after_seconds: RETRY_AFTER_SECONDS },
  }
}

/** Refuses U+0000 in path and query: no name, ID or text contains it, and the database cannot store it. */
export function refuseNul(): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (c.req.url.includes('%00'))
      throw new AgentGymError({
        code: 'request_invalid',
        message: 'The address contains the character U+0000, which is not allowed.',
      })
    await next()
  }
}

/** Refuses unauthorized callers. Runs after authentication. */
export function requireAccess(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { access, secondFactor } = c.get('rules')
    const actor = c.get('actor')
    if (access === 'account' && actor === null) throw unauthenticated()
    else if (typeof access === 'object') requireOperator(actor, access.operator)
    else if (access !== 'anyone' && access !== 'account') requireActor(actor, access)
    if (secondFactor || (!isRead(c.req.method) && isOperatorsOnly(access))) requireSecondFactor(actor)
    await next()
  }
}

/** Actions of operators in person, as opposed to their workers. */
function isOperatorsOnly(access: Access): boolean {
  return typeof access === 'object' && access.operator !== 'worker'
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/** Counts the requests of routes that declare a rate limit. Throws `rate_limited`. */
export function limitRequestRate(database: Database): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { rateLimit } = c.get('rules')
    if (rateLimit !== undefined) {
      const network = clientNetwork(c.get('ip'))
      const caller = rateLimit.per === 'account' ? (c.get('actor')?.accountId ?? network) : network
      await limitRate(database, `${rateLimit.name}:${caller}`, rateLimit)
    }
    await next()
  }
}

type WriteRequest = {
  method: string
  header(name: string): string | undefined
}

/** Forms cannot send these content types, and scripts of another origin need a preflight, which is never answered. */
const guardedTypes = new Set(['application/json', 'application/octet-stream'])

/**
 * Refuses (`forbidden`) a write that a page of another origin may have caused, for requests without a token. Every
 * origin header that the browser sends must match. Programs send none, so a request with a session cookie must also
 * have a content type that no form can send. Exception: a page's own form (`form`), whose hidden token its handler
 * checks.
 */
export function refuseCrossSiteWrite(
  request: WriteRequest,
  publicUrl: string,
  { cookie, form }: { cookie: boolean; form: boolean },
): void {
  if (isRead(request.method)) return
  const site = request.header('sec-fetch-site')
  const origin = request.header('origin')
  if (site !== undefined && site !== 'same-origin') throw crossSite(publicUrl)
  if (origin !== undefined && !isSameOrigin(origin, publicUrl)) throw crossSite(publicUrl)
  if (!cookie || form) return
  const type = request.header('content-type')?.split(';')[0].trim().toLowerCase()
  // PUT, PATCH and DELETE need a preflight by themselves; a POST without a body does not.
  if (type === undefined ? request.method === 'POST' : !guardedTypes.has(type))
    throw new AgentGymError({
      code: 'forbidden',
      message: 'Requests that change data with a session cookie require the content type application/json.',
      hint: 'Send `content-type: application/json`, or authenticate with a token.',
    })
}

/** Also true between the local names of this machine, if the site uses one of them. */
function isSameOrigin(origin: string, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  const [theirs, ours] = [new URL(origin), new URL(publicUrl)]
  if (theirs.origin === ours.origin) return true
  return (
    loopback.has(theirs.hostname) &&
    loopback.has(ours.hostname) &&
    theirs.port === ours.port &&
    theirs.protocol === ours.protocol
  )
}
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

function crossSite(publicUrl: string): AgentGymError {
  return new AgentGymError({
    code: 'forbidden',
    message: 'This request comes from a page on another site.',
    hint: `Use the site at ${publicUrl}. If its address is different, set AGENTGYM_PUBLIC_URL.`,
  })
}
