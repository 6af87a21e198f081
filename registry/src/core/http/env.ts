import type { ErrorReport } from '@agentgym/contract'
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Actor, Scope } from '../access/authorize.ts'
import type { RateLimit } from '../access/rate-limit.ts'
import type { ServerConfig } from '../services.ts'

/** What every route finds in its context: `c.get('actor')`, `c.get('ip')`, `c.get('requestId')`. */
export type Env = {
  /** Node's own request and response, for code that supports only Node. */
  Bindings: HttpBindings & {
    /** Of a request that the site makes for one of its visitors. */
    siteCall?: SiteCall
  }
  Variables: {
    /** The caller; null if anonymous. */
    actor: Actor | null
    /** Address of the client, as the trusted proxies report it. */
    ip: string
    /** Appears in the log, in the header `x-request-id` and in the error of a bug. */
    requestId: string
    /** W3C trace context of the request's span; absent if tracing is off. See `currentTraceparent`. */
    traceparent?: string
    /** Of a request that made a run or is about one that its path does not name: routes set it for the log and the trace. */
    runId?: string
    /** Likewise the job that a request was given. */
    jobId?: string
    /** What the matched route declares, or the defaults. */
    rules: RouteRules
    /** Patterns of all routes and middleware that the request matches, in the order in which they are called. */
    patterns: readonly string[]
    /** Pattern of the site's page that answers. */
    pageRoute?: string
  }
}

/** What a function may read of any handler's context; those of routes that know their caller have a type of their own. */
export type RequestReader = Pick<Context<Env>, 'get' | 'req'>

/** The form in which a protocol's clients print a failure: npm's, OpenAI's. */
export type FailureFormat = {
  body(report: ErrorReport): object
  /** Send `www-authenticate` with a 401. npm prints a text of its own instead of ours if that header is set. */
  challenge: boolean
}

/** Everything that the server does around a route's handler. Declared beside its schema; nothing else knows its path. */
export type RouteRules = {
  /** Checked before the request is validated. What depends on the subject, the handler checks by `authorize`. */
  access: Access
  /**
   * The caller's second factor, if there is one, must be confirmed: see `requireSecondFactor`. Always so for the writes of
   * operators.
   */
  secondFactor?: true
  /** Largest body in bytes. Default: 1 MiB. */
  bodyLimit?: number | ((config: Pick<ServerConfig, 'limits' | 'training'>) => number)
  /** Milliseconds until the client gets `request_timeout`; work that has begun is not undone. Default: 30 s. */
  timeoutMs?: number
  /** Most requests of one account or network, counted over all processes. What several routes share, they count by `limitRate`. */
  rateLimit?: RateLimit & { name: string; per: 'account' | 'network' }
  /**
   * `origin`, the default: a write without a token must come from this site, and with a session cookie be of a content type
   * that no form can send. `form`: a page's form, whose hidden token the handler checks.
   */
  csrf?: 'origin' | 'form'
  /** When a request gets no line in the log. `on_success`: probes, heartbeats. `when_empty`: polls answered with 204. */
  unlogged?: 'on_success' | 'when_empty'
  /** What the path's `id` names, for log and trace. */
  subject?: 'run' | 'job'
  /** How failures are written for this route's clients. Default: `{ error: { code, message, … } }`. */
  failureFormat?: FailureFormat
  /** A page for servers without a site: it does not reserve its first segment for the server. */
  yieldsToSite?: boolean
}

/**
 * Who may call a route. `anyone`: signed in or not. `account`: any session or token. A scope: a session, or a token with
 * that scope. `operator`: the same, of an operator of this server.
 */
export type Access = 'anyone' | 'account' | Scope | { operator: Scope }

/** Holds an answer's JSON for the site that requested it. */
export type HandedOver = { text?: string }

/** What the site passes to the API with a request for a visitor. Clients can't set it. */
export type SiteCall = {
  ip: string
  /** Whether the visitor's own request came from this machine. */
  local: boolean
  requestId: string
  traceparent?: string
  handedOver: HandedOver
}
