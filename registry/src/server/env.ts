import type { HttpBindings } from '@hono/node-server'
import type { Actor } from '../auth/actor.ts'
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
    /** Pattern of the site's page that answers. */
    pageRoute?: string
  }
}
