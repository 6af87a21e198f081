import type { SiteDocs } from '../docs/site-docs.ts'
import type { PageContext, Theme } from '../layout/page-context.ts'
import { renderPage } from '../layout/render-page.tsx'
import { cookieIn, deviceName, makeFormToken, sessionName } from '../session/form-token.ts'
import { type CachedPage, type PublicCache, pageOf } from '../session/public-cache.ts'
import { localPath } from '../session/same-site.ts'
import { visitorApi } from '../session/visitor-api.ts'
import { noForm } from './form.ts'
import type { SiteAssets } from './site-assets.ts'
import type { SiteHost, Visitor } from './site-host.ts'
import type { Visit } from './visit.ts'

export type OpenVisit = {
  visit: Visit
  /** The response with the cookies set during the request. */
  finish(response: Response): Response
}

type Opening = {
  host: SiteHost
  assets: SiteAssets
  docs: () => SiteDocs
  cache: PublicCache
  request: Request
  visitor: Visitor
  params: Record<string, string>
  /** Cache key of the page; null if it is not public. */
  cacheKey: string | null
}

/** A handler's input, before the account and the form are read. */
export function openVisit({ host, assets, docs, cache, request, visitor, params, cacheKey }: Opening): OpenVisit {
  const cookies = request.headers.get('cookie') ?? ''
  const setCookies: string[] = []
  const setCookie = (cookie: string) => void setCookies.push(cookie)
  const id = cookieIn(cookies, sessionName(host))
  const session = id === undefined ? null : `${sessionName(host)}=${id}`
  const deviceId = cookieIn(cookies, deviceName(host))
  const device = deviceId === undefined ? null : `${deviceName(host)}=${deviceId}`
  const url = new URL(request.url)
  let expiresMs = Number.POSITIVE_INFINITY
  const onTtl = (ttlMs: number) => {
    expiresMs = Math.min(expiresMs, performance.now() + ttlMs)
  }
  const visit: Visit = {
    request,
    url,
    params,
    query: url.searchParams,
    account: null,
    api: visitorApi({ publicUrl: host.publicUrl, visitor, session, device, cache, setCookie, onTtl }),
    form: noForm,
    docs,
    reference: (path) => visitor.reference(path),
    host,
    page(body, options) {
      let signed = false
      const sign = () => {
        signed = true
        return makeFormToken(cookies, host)
      }
      const context = contextOf(this, { host, assets, cookies, sign, setCookie })
      const page = pageOf(renderPage(body, options, context))
      const shared = this.account === null && setCookies.length === 0
      const { status = 200 } = options
      if (cacheKey !== null && shared && !signed && session === null && status === 200)
        cache.keepPage(cacheKey, page, expiresMs - performance.now())
      return pageResponse(page, { status, shared, request })
    },
    redirect: (path) =>
      new Response(null, { status: 303, headers: { location: localPath(path), 'cache-control': 'no-store' } }),
    setCookie,
  }
  const finish = (response: Response) => {
    for (const cookie of setCookies) response.headers.append('set-cookie', cookie)
    return response
  }
  return { visit, finish }
}

type PageResponse = { status: number; shared: boolean; request: Request }

/**
 * The response with a page, or 304 if the browser has it cached. As bytes, because undici would scan a string again.
 */
export function pageResponse({ bytes, etag }: CachedPage, { status, shared, request }: PageResponse): Response {
  const headers = pageHeaders({ shared })
  if (!shared || status !== 200) return new Response(bytes, { status, headers })
  headers.etag = etag
  const known = request.headers.get('if-none-match')
  if (known?.includes(etag.replace('W/', ''))) return new Response(null, { status: 304, headers })
  return new Response(bytes, { status, headers })
}

type Drawing = {
  host: SiteHost
  assets: SiteAssets
  cookies: string
  sign(): ReturnType<typeof makeFormToken>
  setCookie(cookie: string): void
}

function contextOf(visit: Visit, { host, assets, cookies, sign, setCookie }: Drawing): PageContext {
  let token: string | undefined
  return {
    address: `${visit.url.pathname}${visit.url.search}`,
    path: visit.url.pathname,
    account: visit.account,
    theme: themeIn(cookies),
    host,
    assets,
    formToken: () => {
      if (token === undefined) {
        const made = sign()
        token = made.token
        if (made.setCookie !== null) setCookie(made.setCookie)
      }
      return token
    },
    islands: new Set(['theme']),
    nowMs: Date.now(),
  }
}

/** The visitor's theme from its cookie. Default: the system's. */
export function themeIn(cookies: string): Theme {
  const chosen = cookieIn(cookies, 'agentgym_theme')
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

/** Pages load resources of this server only. No inline scripts or styles. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  // The sandbox of a play, which is the only document of ours that may be framed.
  "frame-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every page; the server adds the general ones. */
function pageHeaders({ shared }: { shared: boolean }): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': pagePolicy,
    // Pages of a session must not reappear by the back button after logging out.
    'cache-control': shared ? 'private, no-cache' : 'no-store',
    // Session and theme.
    vary: 'cookie',
  }
}
