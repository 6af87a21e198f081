import type { Client } from '@agentgym/client'
import type { OwnAccount } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import type { PageOptions } from '../layout/page-context.ts'
import type { FormValues } from './form.ts'
import type { SiteHost } from './site-host.ts'

/** One request to a page: who asks, for what, and how it is answered. */
export type Visit = {
  readonly request: Request
  /** As the visitor asked for it; its host is not to be trusted. */
  readonly url: URL
  /** Of the route's path, decoded. */
  readonly params: Record<string, string>
  readonly query: URLSearchParams
  /** Null for a stranger. */
  readonly account: OwnAccount | null
  /** The API as this visitor: failures are thrown as AgentGymError, and become pages by themselves. */
  readonly api: Client
  /** What a form sent; empty for a page. */
  readonly form: FormValues
  readonly host: Pick<SiteHost, 'publicUrl' | 'oauthProviders' | 'currency' | 'testMoney' | 'version' | 'secure'>
  /** A whole page with this inside. */
  page(body: Html, options: PageOptions): Response
  /** After a form: to another path of this site. */
  redirect(path: string): Response
  setCookie(cookie: string): void
}

/** What components give. */
export type Html = Child
