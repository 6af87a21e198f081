import type { ErrorReport } from '@agentgym/contract'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Actor, Scope } from '../access/authorize.ts'
import type { RateLimit } from '../access/rate-limit.ts'
import type { ServerConfig } from '../services.ts'

/** Context variables of every route: `c.get('actor')`, `c.get('ip')`, `c.get('requestId')`. */
export type Env = {
  /** Node's own request and response, for code that supports only Node. */
  Bindings: HttpBindings & {
    /** Set for requests that the site makes on behalf of a visitor. */
    siteCall?: SiteCall
  }
  Variables: {
    /** The caller; null if anonymous. */
    actor: Actor | null
    /** Address of the client, as the trusted proxies report it. */
    ip: string
    /** Appears in the log, the header `x-request-id` and `internal_error`. */
    requestId: string
    /** W3C trace context of the request's span; absent if tracing is off. See `currentTraceparent`. */
    traceparent?: string
    /** The run that the request created or concerns, if it is not in the path. Routes set it for logs and traces. */
    runId?: string
    /** The job that the request leased. */
    jobId?: string
    /** Rules of the matched route, or the defaults. */
    rules: RouteRules
    /** Patterns of all routes and middleware that the request matches, in the order in which they are called. */
    patterns: readonly string[]
    /** Pattern of the site's page that handles the request. */
    pageRoute?: string
  }
}

/** The context that a function may read in any handler. Handlers of routes with a known caller have a narrower type. */
export type RequestReader = Pick<Context<Env>, 'get' | 'req'>

/** Error format of a protocol's clients: npm's, OpenAI's. */
export type FailureFormat = {
  body(report: ErrorReport): object
  /** Whether to send `www-authenticate` with a 401. With it, npm replaces our message with its own. */
  challenge: boolean
}

/**
 * Rules that the server applies around a route's handler. Declared with its schema; no other code refers to its path.
 */
export type RouteRules = {
  /**
   * Checked before the request is validated. Permissions that depend on the resource are checked in the handler, by
   * `authorize`.
   */
  access: Access
  /**
   * Requires a confirmed second factor if the caller has one: see `requireSecondFactor`. Always on for writes by
   * operators.
   */
  secondFactor?: true
  /** Largest body in bytes. Default: 1 MiB. */
  bodyLimit?: number | ((config: Pick<ServerConfig, 'limits' | 'training'>) => number)
  /** Milliseconds until the client gets `request_timeout`. Work in progress is not undone. Default: 30 s. */
  timeoutMs?: number
  /** Limit per account or network across all processes. For limits shared by several routes, use `limitRate`. */
  rateLimit?: RateLimit & { name: string; per: 'account' | 'network' }
  /**
   * `origin`, the default: a write without a token must come from this site, and with a session cookie be of a content type
   * that no form can send. `form`: a page's form, whose hidden token the handler checks. `token`: from anywhere; the address
   * carries the only credential, and a session is ignored.
   */
  csrf?: 'origin' | 'form' | 'token'
  /** When a request is not logged. `on_success`: probes, heartbeats. `when_empty`: polls answered with 204. */
  unlogged?: 'on_success' | 'when_empty'
  /** The resource that `id` in the path refers to, for logs and traces. */
  subject?: 'run' | 'job'
  /** Error format of this route's clients. Default: `{ error: { code, message, … } }`. */
  failureFormat?: FailureFormat
  /** A page for servers without a site: its first path segment is not reserved. */
  yieldsToSite?: boolean
}

/**
 * Who may call a route. `anyone`: no login required. `account`: any session or token. A scope: a session, or a token
 * with that scope. `operator`: the same, for operators of this server.
 */
export type Access = 'anyone' | 'account' | Scope | { operator: Scope }

/** Carries the JSON of a response to the site, and who the visitor is. */
export type HandedOver = { text?: string; accountId?: string }

/** Sent by the site with API requests on behalf of a visitor. Clients can't set it. */
export type SiteCall = {
  ip: string
  /** Whether the visitor's own request came from this machine. */
  local: boolean
  requestId: string
  traceparent?: string
  handedOver: HandedOver
}
