import type { PageContext, Theme } from '../layout/page-context.ts'
import { renderPage } from '../layout/render-page.tsx'
import type { AnonymousAnswers } from '../session/anonymous-answers.ts'
import { cookieIn } from '../session/cookies.ts'
import { makeFormToken, sessionName } from '../session/form-token.ts'
import { visitorApi } from '../session/visitor-api.ts'
import { pageHeaders } from './content-policy.ts'
import { noForm } from './form-values.ts'
import { localPath } from './local-path.ts'
import type { ShownPage } from './shown-pages.ts'
import type { SiteAssets } from './site-assets.ts'
import type { SiteHost, Visitor } from './site-host.ts'
import type { Visit } from './visit.ts'

export type OpenVisit = {
  visit: Visit
  /** The answer with the cookies that came up on the way. */
  finish(response: Response): Response
}

type Opening = {
  host: SiteHost
  assets: SiteAssets
  answers: AnonymousAnswers
  request: Request
  visitor: Visitor
  params: Record<string, string>
  /** Takes a page that every stranger may be shown. */
  keepPage?: ((page: ShownPage) => void) | undefined
}

/** Longest for which a page is shown to strangers again: ages in it are of the moment at which it was drawn. */
const pageMs = 3_000

/** What a handler gets, before anybody has looked at who asks: `account` is null and the form unread. */
export function openVisit({ host, assets, answers, request, visitor, params, keepPage }: Opening): OpenVisit {
  const cookies = request.headers.get('cookie') ?? ''
  const setCookies: string[] = []
  const setCookie = (cookie: string) => void setCookies.push(cookie)
  const id = cookieIn(cookies, sessionName(host))
  const session = id === undefined ? null : `${sessionName(host)}=${id}`
  const url = new URL(request.url)
  let untilMs = performance.now() + pageMs
  const heldUntil = (answerMs: number) => {
    untilMs = Math.min(untilMs, answerMs)
  }
  const visit: Visit = {
    request,
    url,
    params,
    query: url.searchParams,
    account: null,
    api: visitorApi({ publicUrl: host.publicUrl, visitor, session, answers, setCookie, heldUntil }),
    form: noForm,
    host,
    page(body, options) {
      let signed = false
      const sign = () => {
        signed = true
        return makeFormToken(cookies, host)
      }
      const context = contextOf(this, { host, assets, cookies, sign, setCookie })
      const bytes = Buffer.from(renderPage(body, options, context))
      const shared = this.account === null && setCookies.length === 0
      const { status = 200 } = options
      if (shared && !signed && session === null && status === 200) keepPage?.({ bytes, untilMs })
      return pageResponse(bytes, { status, shared })
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

/** A page's answer. As bytes: undici would look at each character of a text once more. */
export function pageResponse(
  bytes: Buffer<ArrayBuffer>,
  { status, shared }: { status: number; shared: boolean },
): Response {
  return new Response(bytes, { status, headers: pageHeaders({ shared }) })
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

/** The visitor's own choice, remembered in their browser; without one the system's. */
export function themeIn(cookies: string): Theme {
  const chosen = cookieIn(cookies, 'agentgym_theme')
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}
