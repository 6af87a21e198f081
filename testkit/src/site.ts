import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { type ServeOptions, serve, withOperators } from '@agentgym/registry'
import { backgroundSettled, type listed, loadPackages, openDatabase } from '@agentgym/registry/testing'
import { createSite } from '../../web/src/app/create-site.ts'
import type { SiteRoute } from '../../web/src/app/route.ts'
import { type SiteAssets, unbuiltAssets } from '../../web/src/app/site-assets.ts'
import type { Preview } from '../../web/src/app/site-host.ts'
import { renderDocs } from '../../web/src/docs/render-docs.ts'
import type { SiteDocs } from '../../web/src/docs/site-docs.ts'
import { createPostgresqlDatabase } from './postgresql.ts'
import { runFolder } from './run-folder.ts'

type ListedPackage = ReturnType<typeof listed>

type TestSiteOptions = {
  packages?: ListedPackage[]
  environment?: Record<string, string>
  assets?: SiteAssets
  /** Its database. Default: one of its own on the run's server. */
  databaseUrl?: string
  routes?: SiteRoute[]
  /** The command as a package for npm. Default: the server has none. */
  command?: ServeOptions['command']
}

export type TestSite = {
  url: string
  /** Patterns that the site's router knows, with their methods. */
  patterns(): { method: string; path: string }[]
  /** A browser without a session. */
  browser(): TestBrowser
  /** A browser logged in as that user, who is created if new. */
  browserOf(username: string): Promise<TestBrowser>
  /** Resolves once what was published is rendered, and everything else in the background is done. */
  settled(): Promise<void>
  close(): Promise<void>
}

let rendered: SiteDocs | undefined

/** Rendered from the sources by the first test that opens one. */
function renderedDocs(): SiteDocs {
  rendered ??= renderDocs(join(import.meta.dirname, '../..'))
  return rendered
}

export const password = 'correct horse battery staple'

/** The site on a registry of its own, as `agentgym serve` has them, on PostgreSQL, with these packages in it. */
export async function openTestSite(options: TestSiteOptions = {}): Promise<TestSite> {
  const { packages = [], environment = {}, assets = unbuiltAssets(), routes, command } = options
  const data = await mkdtemp(join(runFolder(), 'site-'))
  const url = options.databaseUrl ?? (await createPostgresqlDatabase())
  if (packages.length > 0) {
    const database = await openDatabase({ url })
    await loadPackages(database, packages)
    await database.close()
  }
  await withOperators({ environment: { DATABASE_URL: url } }, (operators) =>
    operators.create({ username: 'operator', email: 'operator@example.com', password }),
  )
  let site: ReturnType<typeof createSite> | undefined
  const server = await serve({
    port: 0,
    data,
    command,
    environment: { AGENTGYM_LOG_LEVEL: 'error', DATABASE_URL: url, ...environment },
    site: (host) => {
      site = createSite({ ...host, drawPreview }, { assets, docs: renderedDocs, routes })
      return site
    },
  })
  const known = new Set<string>(['operator'])
  return {
    url: server.url,
    settled: backgroundSettled,
    patterns: () =>
      (site?.app.routes ?? [])
        .filter(({ path }) => path !== '/assets/*')
        .map(({ method, path }) => ({ method: method.toLowerCase(), path })),
    browser: () => openBrowser(server.url),
    browserOf: async (username) => {
      const browser = openBrowser(server.url)
      if (!known.has(username)) {
        known.add(username)
        await browser.api('POST', '/v1/accounts', { username, email: `${username}@example.com`, password })
      }
      await browser.api('POST', '/v1/sessions', { username, password })
      return browser
    },
    close: () => server.close(),
  }
}

/** Without the command's queue. */
const drawPreview = async (preview: Preview) =>
  (await import('../../sdk/cli/src/rendering/draw-preview.ts')).drawPreview(preview)

export type TestPage = { status: number; headers: Headers; text: string }

/** A browser without scripts: cookies, pages, forms. Redirects are returned, not followed. */
export type TestBrowser = {
  cookies: Map<string, string>
  get(path: string, headers?: Record<string, string>): Promise<TestPage>
  /** Sends a form as it stands: without a token unless `fields` has one. */
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<TestPage>
  /** Opens the page, and sends its form for `action` with these fields changed. */
  submit(page: string, action: string, fields: Record<string, string>): Promise<TestPage>
  /** The token of the forms on that page. */
  formToken(page: string): Promise<string>
  api(method: string, path: string, body?: unknown): Promise<Response>
}

function openBrowser(server: string): TestBrowser {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit & { headers?: Record<string, string> }) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(path, server), {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie === '' ? {} : { cookie }), ...init.headers },
    })
    for (const set of response.headers.getSetCookie()) keepCookie(cookies, set)
    return response
  }
  const pageOf = async (response: Response): Promise<TestPage> => {
    const { status, headers } = response
    return { status, headers, text: await response.text() }
  }
  const browser: TestBrowser = {
    cookies,
    get: async (path, headers = {}) => pageOf(await send(path, { headers: { accept: 'text/html', ...headers } })),
    post: async (path, fields, headers = {}) =>
      pageOf(
        await send(path, {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            origin: server,
            'sec-fetch-site': 'same-origin',
            ...headers,
          },
          body: String(new URLSearchParams(fields)),
        }),
      ),
    submit: async (page, action, fields) => {
      const { text } = await browser.get(page)
      const form = new RegExp(`<form[^>]*action="${action}"[^>]*>([\\s\\S]*?)</form>`).exec(text)
      if (form === null) throw new Error(`${page} has no form for ${action}`)
      return browser.post(action, { ...hiddenFields(form[1]), ...fields })
    },
    formToken: async (page) => hiddenFields((await browser.get(page)).text).form_token ?? '',
    api: (method, path, body) =>
      send(path, {
        method,
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
  }
  return browser
}

function keepCookie(cookies: Map<string, string>, set: string): void {
  const [pair] = set.split(';')
  const at = pair.indexOf('=')
  if (/max-age=0/i.test(set)) cookies.delete(pair.slice(0, at))
  else cookies.set(pair.slice(0, at), pair.slice(at + 1))
}

function hiddenFields(html: string): Record<string, string> {
  const inputs = html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)
  return Object.fromEntries([...inputs].map(([, name, value]) => [name, value.replaceAll('&amp;', '&')]))
}
