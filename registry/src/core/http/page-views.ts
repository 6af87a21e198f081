import type { Context } from 'hono'
import type { Env } from './env.ts'

/** How a visitor came to a page: from search results, from lists and other pages, from elsewhere, by the command. */
export type Source = 'search' | 'browse' | 'link' | 'command'

/** A page of a package that was shown. */
export type PageView = {
  name: string
  /** Null: the latest. */
  version: string | null
  source: Source
  ip: string
  userAgent: string
  /** Null if anonymous. */
  accountId: string | null
}

const bots =
  /bot\b|bot[/_-]|crawl|spider|slurp|preview|fetch|monitor|scan|headless|lighthouse|curl|wget|python|java\/|go-http|node|undici|okhttp|libwww|facebookexternalhit|embed/i

/** Whether a request is made for a person by a browser, as far as it says. Prefetched pages may never be seen. */
export function isPerson(header: (name: string) => string | undefined): boolean {
  const agent = header('user-agent') ?? ''
  const purpose = header('sec-purpose') ?? header('purpose') ?? ''
  return agent.startsWith('Mozilla/') && !bots.test(agent) && !/prefetch|prerender|preview/i.test(purpose)
}

/**
 * The source of a page by the address that led to it; null for one of the package itself. Only the class is kept, never the
 * address.
 */
export function sourceOf(referrer: string | undefined, publicUrl: string, name: string): Source | null {
  const from = referrer === undefined ? null : URL.parse(referrer)
  if (from === null || from.origin !== URL.parse(publicUrl)?.origin) return 'link'
  if (from.pathname === `/packages/${name}` || from.pathname.startsWith(`/packages/${name}/`)) return null
  return from.searchParams.get('q') ? 'search' : 'browse'
}

const packagePage = /^\/packages\/(@[^/]+\/[^/]+)(?:\/v\/([^/]+))?$/

/** The view that the response to a request of the site is; null if it is none, or none of a person. */
export function pageViewOf(
  c: Pick<Context<Env>, 'req' | 'get'>,
  response: Response,
  { publicUrl, accountId }: { publicUrl: string; accountId: string | null },
): PageView | null {
  const header = (name: string) => c.req.header(name)
  if (c.req.method !== 'GET' || (response.status !== 200 && response.status !== 304)) return null
  const [, name, version] = packagePage.exec(c.req.path) ?? []
  if (name === undefined || !isPerson(header)) return null
  const source = sourceOf(header('referer'), publicUrl, name)
  if (source === null) return null
  const client = { ip: c.get('ip'), userAgent: header('user-agent') ?? '' }
  return { name, version: version ?? null, source, ...client, accountId }
}

/** Whether a file is fetched by a play page, for a person who started a play. */
export function isForPlay(header: (name: string) => string | undefined, publicUrl: string): boolean {
  const from = URL.parse(header('referer') ?? '')
  const ours = from !== null && from.origin === URL.parse(publicUrl)?.origin
  return ours && /^\/packages\/@[^/]+\/[^/]+\/play$/.test(from.pathname) && isPerson(header)
}
