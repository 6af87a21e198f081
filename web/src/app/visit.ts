import type { Client } from '@agentgym/client'
import type { OwnAccount } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import type { SiteDocs } from '../docs/site-docs.ts'
import type { PageOptions } from '../layout/page-context.ts'
import type { FormValues } from './form.ts'
import type { SiteHost, Visitor } from './site-host.ts'

/** A request to a page: its visitor, input and responses. */
export type Visit = {
  readonly request: Request
  /** The requested URL. Its host is not trusted. */
  readonly url: URL
  /** Path parameters, decoded. */
  readonly params: Record<string, string>
  readonly query: URLSearchParams
  /** Null if anonymous. */
  readonly account: OwnAccount | null
  /** The API as this visitor. Failures are thrown as AgentGymError and shown as pages. */
  readonly api: Client
  /** Submitted form; empty for a page. */
  readonly form: FormValues
  readonly docs: () => SiteDocs
  /** The page of the API reference at that path; null if there is none. */
  readonly reference: Visitor['reference']
  readonly host: Pick<
    SiteHost,
    | 'publicUrl'
    | 'oauthProviders'
    | 'currency'
    | 'testMoney'
    | 'version'
    | 'secure'
    | 'policies'
    | 'drawPreview'
    | 'commandUrl'
  >
  /** Renders a complete page with this content. */
  page(body: Html, options: PageOptions): Response
  /** Redirects to another path of this site after a form. */
  redirect(path: string): Response
  setCookie(cookie: string): void
}

/** Output of components. */
export type Html = Child
