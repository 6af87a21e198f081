import assert from 'node:assert/strict'
import type { OwnAccount } from '@agentgym/contract'
import { createContext, useContext } from 'hono/jsx'
import type { SiteAssets } from '../app/site-assets.ts'
import type { SiteHost } from '../app/site-host.ts'

export type Theme = 'light' | 'dark' | 'system'

/** The page context for components. */
export type PageContext = {
  /** Requested path and query. */
  address: string
  path: string
  account: OwnAccount | null
  theme: Theme
  host: Pick<
    SiteHost,
    'publicUrl' | 'oauthProviders' | 'currency' | 'testMoney' | 'version' | 'drawPreview' | 'commandUrl'
  >
  assets: SiteAssets
  /** Token for the page's forms; the first call sets the cookie that belongs to it. */
  formToken(): string
  /** Scripts that the page's components need. */
  islands: Set<string>
  /** When the page is rendered, for relative times. */
  nowMs: number
}

export type PageOptions = {
  /** Without the site's name. */
  title: string
  /** For search engines and previews, truncated to 200 characters. */
  description?: string
  status?: number
  /** `plain` has no navigation: login, checkout and other pages with a single task. */
  frame?: 'full' | 'plain'
  /** What other sites show for a link to it. */
  preview?: { name: string; version: string }
  /** Path and query that search engines index. Default: the requested path. */
  canonical?: string
  /** Keeps it out of search engines. */
  hidden?: boolean
  /** Path of an Atom feed about the page. */
  feed?: string
}

export const PageProvider = createContext<PageContext | null>(null)

export function usePage(): PageContext {
  const page = useContext(PageProvider)
  assert(page !== null, 'a component outside of a page')
  return page
}

/** Loads the script `islands/NAME.ts` on this page. The component must work without it. */
export function useIsland(name: string): void {
  usePage().islands.add(name)
}
