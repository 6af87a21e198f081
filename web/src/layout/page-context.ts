import assert from 'node:assert/strict'
import type { OwnAccount } from '@agentgym/contract'
import { createContext, useContext } from 'hono/jsx'
import type { SiteAssets } from '../app/site-assets.ts'
import type { SiteHost } from '../app/site-host.ts'

export type Theme = 'light' | 'dark' | 'system'

/** What every component may know about the page that it is on. */
export type PageContext = {
  /** Path and query, as asked for. */
  address: string
  path: string
  account: OwnAccount | null
  theme: Theme
  host: Pick<SiteHost, 'publicUrl' | 'oauthProviders' | 'currency' | 'version'>
  assets: SiteAssets
  /** Signs the page's forms; the first call gives the browser the cookie that goes with it. */
  formToken(): string
  /** Islands that the page's components have asked for. */
  islands: Set<string>
  /** Of the moment at which the page is drawn, for ages. */
  nowMs: number
}

export type PageOptions = {
  /** Without the site's name. */
  title: string
  /** For search engines and previews; at most 200 characters of it are shown. */
  description?: string
  status?: number
  /** `plain` has no navigation: log-in, checkout, where one thing is to be done. */
  frame?: 'full' | 'plain'
  /** Keeps it out of search engines. */
  hidden?: boolean
}

export const PageProvider = createContext<PageContext | null>(null)

export function usePage(): PageContext {
  const page = useContext(PageProvider)
  assert(page !== null, 'a component outside of a page')
  return page
}

/** Has the script `islands/NAME.ts` loaded on this page. The component must be of use without it. */
export function useIsland(name: string): void {
  usePage().islands.add(name)
}
