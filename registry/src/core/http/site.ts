import { createHmac } from 'node:crypto'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { Log, Services } from '../services.ts'
import { version } from '../version.ts'
import { isLocalRequest } from './client-address.ts'
import type { Env, HandedOver } from './env.ts'
import { type PageView, pageViewOf } from './page-views.ts'
import type { Html } from './pages/page.ts'
import { rulesOf } from './route.ts'

/** The server's interface for the marketplace's site, which depends on nothing else. */
type SiteHost = {
  /** Public URL, without a trailing slash. */
  publicUrl: string
  /** Served over TLS. */
  secure: boolean
  /** 32-byte key that signs the site's forms; the same in all replicas. */
  formKey: Uint8Array
  /** Login providers besides a password. */
  oauthProviders: string[]
  /** ISO 4217, of every price. */
  currency: string
  /** Whether payments use test money. */
  testMoney: boolean
  version: string
  /** The operator's own policies as HTML; null: the site shows its template. */
  policies: Policies
  /** Address of the command as a package for npm; null: not served. */
  commandUrl: string | null
  log: Log
}

/** A page of the API reference: trusted HTML, without header and footer. */
export type ReferencePage = { title: string; body: string }

/** A request as received by the server. */
export type Visitor = {
  /** The path for routes: `@scope%2fname` is `@scope/name`. */
  path: string
  /** Shown in the log. */
  requestId: string
  /** The page of the API reference at a path such as `/docs/api/packages`; null if there is none. */
  reference(path: string): Promise<ReferencePage | null>
  /** Calls the API of this process, without a socket, as this client and within this request's trace. */
  callApi(request: Request): Promise<Response>
  /** The pattern that matches a path, for log and metrics. */
  routed(pattern: string): void
}

export type Site = { fetch(request: Request, visitor: Visitor): Response | Promise<Response> }
export type OpenSite = (host: SiteHost) => Site | Promise<Site>

type FindReference = (path: string) => { title: string; body: Html } | undefined
type CallApp = (request: Request, bindings: Env['Bindings']) => Response | Promise<Response>

/**
 * Whether the site handles a path: true if no route of the server has the same first segment, except for routes that
 * yield to the site. So the API handles `/v1/nothing`, and the site `/nothing`.
 */
export function sitePaths(app: Pick<Hono<Env>, 'routes'>): (path: string) => boolean {
  const yielding = app.routes.filter(({ handler }) => rulesOf(handler)?.yieldsToSite)
  const yielded = new Set(yielding.map(({ path }) => path))
  const paths = app.routes.map(({ path }) => path).filter((path) => !/^\/?\*?$/.test(path) && !yielded.has(path))
  const own = new Set(paths.map(firstSegment))
  return (path) => !own.has(firstSegment(path))
}

function firstSegment(path: string): string {
  return path.split('/')[1]
}

type Policies = Record<'terms' | 'privacy' | 'acceptable-use', string | null>

export function siteHost({ config, log }: Services, policies: Policies, commandPath?: string): SiteHost {
  return {
    publicUrl: config.publicUrl,
    secure: config.secure,
    formKey: createHmac('sha256', config.secret).update('forms of the site').digest(),
    oauthProviders: Object.entries(config.oauth).flatMap(([name, provider]) => (provider === undefined ? [] : [name])),
    currency: config.training.currency,
    testMoney: config.market.stripe === null,
    version,
    policies,
    commandUrl: commandPath === undefined ? null : config.publicUrl + commandPath,
    log,
  }
}

/**
 * Handles the site's paths before authentication: the site's forms are not API calls, and the site finds out who the
 * caller is by calling the API.
 */
export function mountSite(
  site: Site,
  app: Hono<Env>,
  { reference, publicUrl, onPageView }: Mounting,
): MiddlewareHandler<Env> {
  const callApp: CallApp = (request, bindings) => app.fetch(request, bindings)
  // All routes are mounted by the first request.
  let isSitePath: ((path: string) => boolean) | undefined
  return async (c, next) => {
    isSitePath ??= sitePaths(app)
    if (!isSitePath(c.req.path)) return next()
    // The site calls the API as the visitor, whose account is then known. Cached pages need no call, nor an account.
    const known: Known = { accountId: null }
    const response = await site.fetch(c.req.raw, visitorOf(c, callApp, reference, known))
    const view = onPageView === undefined ? null : pageViewOf(c, response, { publicUrl, ...known })
    if (view !== null) onPageView?.(view)
    return response
  }
}

type Mounting = {
  reference: FindReference
  publicUrl: string
  /** Called for every page of a package that a person is shown. */
  onPageView?: (view: PageView) => void
}
type Known = { accountId: string | null }

function visitorOf(c: Context<Env>, callApp: CallApp, findReference: FindReference, known: Known): Visitor {
  return {
    path: c.req.path,
    requestId: c.get('requestId'),
    callApi: async (request) => {
      const handedOver: HandedOver = {}
      const [ip, requestId, traceparent] = [c.get('ip'), c.get('requestId'), c.get('traceparent')]
      const siteCall = { ip, local: isLocalRequest(c), requestId, traceparent, handedOver }
      const answer = await callApp(request, { ...c.env, siteCall })
      known.accountId ??= handedOver.accountId ?? null
      return takeHandedOver(answer, handedOver)
    },
    reference: async (path) => {
      const found = findReference(path)
      return found === undefined ? null : { title: found.title, body: String(await found.body) }
    },
    routed: (pattern) => c.set('pageRoute', pattern),
  }
}

/**
 * Responses to the site of this process pass their JSON as a string instead of a body: encoding, streaming, collecting
 * and decoding a body costs as much as parsing the JSON.
 */
export function handOverJson(): MiddlewareHandler<Env> {
  return async (c, next) => {
    const siteCall = c.env?.siteCall
    if (siteCall !== undefined) {
      const respond: (data: null, status?: StatusCode, headers?: Record<string, string>) => Response = c.body
      const handOver = (value: unknown, status?: StatusCode, headers?: Record<string, string>) => {
        siteCall.handedOver.text = JSON.stringify(value)
        return respond(null, status, { 'content-type': 'application/json', ...headers })
      }
      // Routes declare the type of their responses; here any type is accepted.
      c.json = handOver as unknown as typeof c.json
    }
    await next()
    if (siteCall !== undefined) siteCall.handedOver.accountId = c.get('actor')?.accountId
  }
}

/** `response` with the passed string as its body. */
function takeHandedOver(response: Response, { text }: HandedOver): Response {
  if (text === undefined || response.body !== null) return response
  return Object.defineProperties(response, {
    text: { value: async () => text },
    json: { value: async () => JSON.parse(text) },
  })
}
