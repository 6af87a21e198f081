import type { ErrorReport } from '@agentgym/contract'
import type { HttpBindings } from '@hono/node-server'
import type { Actor } from '../access/authorise.ts'
import type { RouteRules } from './route.ts'
import type { SiteCall } from './site.ts'

/** What every route finds in its context: `c.get('actor')`, `c.get('ip')`, `c.get('requestId')`. */
export type Env = {
  /** Node's own request and response, for what speaks Node only. */
  Bindings: HttpBindings & {
    /** Of a request that the site makes for one of its visitors. */
    siteCall?: SiteCall
  }
  Variables: {
    /** Whoever makes the request; null for those who are not known. */
    actor: Actor | null
    /** Address of the client, as the trusted proxies tell it. */
    ip: string
    /** Stands in the log, in the header `x-request-id` and in the error of a bug. */
    requestId: string
    /** W3C trace context of the request's span; absent where nothing is traced. See `currentTraceparent`. */
    traceparent?: string
    /** Of a request that made a run or is about one that its path does not name: routes set it for the log and the trace. */
    runId?: string
    /** Likewise the job that a request was given. */
    jobId?: string
    /** What the matched route declares, or the defaults. */
    rules: RouteRules
    /** Pattern of the site's page that answers. */
    pageRoute?: string
  }
}

/** The form in which a protocol's clients print a failure: npm's, OpenAI's. */
export type FailureFormat = {
  body(report: ErrorReport): object
  /** Send `www-authenticate` with a 401. npm prints a text of its own instead of ours where that header is. */
  challenge: boolean
}
