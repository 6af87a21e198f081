import assert from 'node:assert/strict'
import { AgentGymError, type OwnAccount } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import type { SiteDocs } from '../docs/site-docs.ts'
import { answerFailure, foreignForm, notFound } from '../pages/failures.tsx'
import { cookieIn, isFormToken, sessionName } from '../session/form-token.ts'
import { PublicCache } from '../session/public-cache.ts'
import { isOwnOrigin } from '../session/same-site.ts'
import { readForm } from './form.ts'
import { type OpenVisit, openVisit, pageResponse, themeIn } from './open-visit.ts'
import { judgeAccess, type SiteRoute } from './route.ts'
import { answerAsset, type SiteAssets } from './site-assets.ts'
import type { Site, SiteHost, Visitor } from './site-host.ts'
import { siteRoutes } from './site-routes.ts'
import type { Visit } from './visit.ts'

type SiteEnv = { Bindings: { visitor: Visitor } }

/** Relative times on a page are computed at rendering, so it is not cached for longer. */
const cacheOptions = { ttlMs: 3_000, maxBytes: 48 * 2 ** 20 }

type SiteParts = {
  assets: SiteAssets
  docs: () => SiteDocs
  /** Default: all routes of the site. */
  routes?: readonly SiteRoute[]
}

/** The site as a function from requests to pages. */
export function createSite(
  host: SiteHost,
  { assets, docs, routes = siteRoutes }: SiteParts,
): Site & { app: Hono<SiteEnv> } {
  const cache = new PublicCache(cacheOptions)
  const app = new Hono<SiteEnv>({ getPath: (_, options) => options?.env?.visitor.path ?? '/' })
  const open = (c: Context<SiteEnv>, cacheKey: string | null = null) =>
    openVisit({
      host,
      assets,
      docs,
      cache,
      request: c.req.raw,
      visitor: c.env.visitor,
      params: c.req.param(),
      cacheKey,
    })
  const known = new Set<string>()
  for (const one of routes) {
    assert(!known.has(`${one.method} ${one.path}`), `${one.method} ${one.path} is there twice`)
    known.add(`${one.method} ${one.path}`)
    app.on(one.method.toUpperCase(), one.path, (c) => {
      c.env.visitor.routed(one.path)
      const cacheKey = publicKey(host, one, c.req.raw)
      const cached = cacheKey === null ? undefined : cache.page(cacheKey)
      if (cached !== undefined) return pageResponse(cached, { status: 200, shared: true, request: c.req.raw })
      const opened = open(c, cacheKey)
      return guarded(host, c.env.visitor, opened, (visit) => answerRoute(host, one, visit))
    })
  }
  const icons = [...assets.files.keys()].filter((path) => !path.startsWith('/assets/'))
  for (const path of ['/assets/*', ...icons])
    app.get(path, (c, next) => {
      c.env.visitor.routed(path)
      const answer = answerAsset(assets, c.req.path, c.req.raw)
      return answer === null ? next() : Promise.resolve(answer)
    })
  app.notFound((c) =>
    guarded(host, c.env.visitor, open(c), async (opened) => {
      const { pathname, search } = opened.visit.url
      if (pathname.endsWith('/') && pathname !== '/')
        return opened.visit.redirect(pathname.replace(/\/+$/, '') + search)
      return notFound(Object.assign(opened.visit, { account: await accountOf(host, opened.visit) }))
    }),
  )
  return { app, fetch: async (request, visitor) => app.fetch(request, { visitor }) }
}

/**
 * The cache key of a public page: everything that it depends on besides the API's responses. Null if the request has a
 * session, valid or not. Handlers read nothing else of a request.
 */
function publicKey(host: SiteHost, { method, rule }: SiteRoute, { url, headers }: Request): string | null {
  const cookies = headers.get('cookie') ?? ''
  if (method !== 'get' || rule.access !== 'public' || cookieIn(cookies, sessionName(host)) !== undefined) return null
  // The path as sent, because pages show their own URL.
  return `${themeIn(cookies)} ${url.slice(url.indexOf('/', url.indexOf('//') + 2))}`
}

/** The error page for anything that a route throws. */
async function guarded(
  host: SiteHost,
  visitor: Visitor,
  opened: OpenVisit,
  answer: (opened: OpenVisit) => Promise<Response>,
): Promise<Response> {
  try {
    return opened.finish(await answer(opened))
  } catch (error) {
    return opened.finish(await answerFailure(host, visitor, opened.visit, error))
  }
}

async function answerRoute(host: SiteHost, route: SiteRoute, opened: OpenVisit): Promise<Response> {
  const { request } = opened.visit
  const visit: Visit = Object.assign(opened.visit, {
    account: await accountOf(host, opened.visit),
    form: route.method === 'post' ? await readForm(request) : opened.visit.form,
  })
  if (route.method === 'post' && !isOurForm(host, route, visit)) return foreignForm(visit)
  const verdict = judgeAccess(route.rule, visit.account, visit.params)
  if (verdict === 'log-in') return visit.redirect(logInPath(visit, route))
  if (verdict === 'hidden') return notFound(visit)
  return route.answer(visit)
}

function isOurForm(host: SiteHost, { rule }: SiteRoute, { request, form }: Visit): boolean {
  if (!isOwnOrigin(request.headers, host.publicUrl)) return false
  return rule.formToken === false || isFormToken(form.get('form_token'), request.headers.get('cookie') ?? '', host)
}

/** Redirects to the login page, which returns here. A submitted form is not repeated. */
function logInPath({ url }: Visit, { method }: SiteRoute): string {
  return method === 'get' ? `/login?next=${encodeURIComponent(`${url.pathname}${url.search}`)}` : '/login'
}

/** The account of the request's session, if it has one. */
async function accountOf(host: SiteHost, { request, api }: Visit): Promise<OwnAccount | null> {
  if (cookieIn(request.headers.get('cookie') ?? '', sessionName(host)) === undefined) return null
  try {
    const { data } = await api.GET('/v1/account')
    return data
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'unauthenticated') return null
    throw error
  }
}
