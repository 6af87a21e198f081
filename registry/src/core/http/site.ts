import { createHmac } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { Log, Services } from '../services.ts'
import { version } from '../version.ts'
import type { Env } from './env.ts'
import { type HandedOver, takeHandedOver } from './hand-over-json.ts'

/** What the server lends to the marketplace's site, which it knows by this alone. */
export type SiteHost = {
  /** As users reach it, without a trailing slash. */
  publicUrl: string
  /** Behind TLS. */
  secure: boolean
  /** 32 bytes that only the site signs its forms with; the same in all replicas. */
  formKey: Uint8Array
  /** Through whom one can log in besides a password. */
  oauthProviders: string[]
  /** ISO 4217, of every price. */
  currency: string
  version: string
  log: Log
}

/** One request, as the server has received it. */
export type Visitor = {
  /** What routes see: `@scope%2fname` is `@scope/name`. */
  path: string
  /** Stands in the log. */
  requestId: string
  /** Calls the API of this process, without a socket, as this client and within this request's trace. */
  callApi(request: Request): Promise<Response>
  /** Tells which pattern answers, for log and metrics. */
  routed(pattern: string): void
}

export type Site = { fetch(request: Request, visitor: Visitor): Response | Promise<Response> }
export type OpenSite = (host: SiteHost) => Site | Promise<Site>

/** What the API hears about a request that the site makes for a visitor; nobody outside can say such a thing. */
export type SiteCall = { ip: string; requestId: string; traceparent?: string; handedOver: HandedOver }

type CallApp = (request: Request, bindings: Env['Bindings']) => Response | Promise<Response>

/** The first parts of paths that are the server's own. Everything else is the site's. */
const ownPaths =
  /^\/(?:(?:v1|rpc|npm|metrics|healthz|readyz|docs|device|verify-email|reset-password|test-checkout)(?:\/|$)|assets\/(?:server-|inter[.]|jetbrains-mono[.]))/

export function isSitePath(path: string): boolean {
  return !ownPaths.test(path)
}

export function siteHost({ config, log }: Services): SiteHost {
  return {
    publicUrl: config.publicUrl,
    secure: config.secure,
    formKey: createHmac('sha256', config.secret).update('forms of the site').digest(),
    oauthProviders: Object.entries(config.oauth).flatMap(([name, provider]) => (provider === undefined ? [] : [name])),
    currency: config.training.currency,
    version,
    log,
  }
}

/**
 * Answers the site's paths, before anything looks at who asks: a form of the site is no call of the API, and the site
 * finds out by calling it.
 */
export function mountSite(site: Site, callApp: CallApp): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (!isSitePath(c.req.path)) return next()
    return site.fetch(c.req.raw, visitorOf(c, callApp))
  }
}

function visitorOf(c: Context<Env>, callApp: CallApp): Visitor {
  return {
    path: c.req.path,
    requestId: c.get('requestId'),
    callApi: async (request) => {
      const handedOver: HandedOver = {}
      const [ip, requestId, traceparent] = [c.get('ip'), c.get('requestId'), c.get('traceparent')]
      const answer = await callApp(request, { ...c.env, siteCall: { ip, requestId, traceparent, handedOver } })
      return takeHandedOver(answer, handedOver)
    },
    routed: (pattern) => c.set('pageRoute', pattern),
  }
}
