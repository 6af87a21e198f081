// @module-tag full
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { listed } from '@agentgym/registry/testing'
import {
  axeFindings,
  type Browser,
  controlsInView,
  type OpenedPage,
  openChromium,
  openVisitor,
} from '@agentgym/testkit/browser'
import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSiteAssets } from '../../web/src/app/site-assets.ts'
import { siteRoutes } from '../../web/src/app/site-routes.ts'
import { extremePackages } from '../../web/test/extreme-packages.ts'
import { repositoryRoot } from '../checks/repository-files.ts'
import { type FilledSite, fillSite } from './fill-site.ts'

/** Artefacts: each page as it looked, to be looked at. */
const screenshots = join(import.meta.dirname, 'screenshots')

const packages = [
  ...extremePackages,
  ...Array.from({ length: 40 }, (_, index) =>
    listed(`@many/number-${index}`, { title: `Number ${index}`, summary: 'One of many', downloads: index * 100 }),
  ),
]

let site: TestSite
let filled: FilledSite
let browser: Browser
beforeAll(async () => {
  execFileSync(process.execPath, [join(repositoryRoot, 'web/build.ts')])
  mkdirSync(screenshots, { recursive: true })
  const assets = readSiteAssets(join(repositoryRoot, 'web/dist/client'))
  site = await openTestSite({ packages, assets, environment: { AGENTGYM_PRICE_NOTICE_DAYS: '0' } })
  filled = await fillSite(site)
  browser = await openChromium()
}, 300_000)
afterAll(async () => {
  await browser.close()
  await site.close()
}, 120_000)

type Visited = { path: string; as: string | null }
type Sample = (made: FilledSite) => { path: string; as?: string }

/** Paths of a route with content, and their visitor. Default: the visitor that its rule requires. */
const samples: Record<string, Sample> = {
  '/:scope{@[^/]+}': () => ({ path: '/@acme' }),
  '/packages/:scope/:name': () => ({ path: '/packages/@acme/maze' }),
  '/packages/:scope/:name/readme': () => ({ path: '/packages/@acme/solver/readme' }),
  '/:scope{@[^/]+}/feed.atom': () => ({ path: '/@acme/feed.atom' }),
  '/packages/:scope/:name/feed.atom': () => ({ path: '/packages/@acme/maze/feed.atom' }),
  '/packages/:scope/:name/files': () => ({ path: '/packages/@acme/maze/files' }),
  '/packages/:scope/:name/v/:version/files': () => ({ path: '/packages/@acme/solver/v/0.1.0/files' }),
  '/packages/:scope/:name/v/:version/files/:path{.+}': () => ({
    path: '/packages/@acme/maze/v/1.0.0/files/dist/scenario.js',
  }),
  '/packages/:scope/:name/v/:version/compare/:base': () => ({ path: '/packages/@acme/maze/v/1.0.0/compare/1.0.0' }),
  '/packages/:scope/:name/v/:version/compare': () => ({ path: '/packages/@acme/maze/v/1.0.0/compare' }),
  '/packages/:scope/:name/agents': () => ({ path: '/packages/@acme/maze/agents' }),
  '/packages/:scope/:name/agents/compare': () => ({
    path: '/packages/@acme/maze/agents/compare?agents=@acme/solver&agents=@acme/walker',
  }),
  '/packages/:scope/:name/versions': () => ({ path: '/packages/@acme/maze/versions' }),
  '/packages/:scope/:name/dependencies': () => ({ path: '/packages/@acme/maze/dependencies' }),
  '/packages/:scope/:name/reviews': () => ({ path: '/packages/@acme/solver/reviews' }),
  '/packages/:scope/:name/report': () => ({ path: '/packages/@acme/maze/report', as: 'buyer' }),
  '/packages/:scope/:name/appeal': () => ({ path: '/packages/@acme/maze/appeal' }),
  '/packages/:scope/:name/try': () => ({ path: '/packages/@acme/solver/try', as: 'buyer' }),
  '/packages/:scope/:name/try/values': () => ({
    path: '/packages/@acme/solver/try/values?observation-0-0=0.5',
    as: 'buyer',
  }),
  '/packages/:scope/:name/play': () => ({ path: '/packages/@acme/maze/play' }),
  '/packages/:scope/:name/analytics': () => ({ path: '/packages/@acme/solver/analytics' }),
  '/packages/:scope/:name/price': () => ({ path: '/packages/@acme/solver/price' }),
  '/packages/:scope/:name/v/:version/readme': () => ({ path: '/packages/@acme/maze/v/1.0.0/readme' }),
  '/packages/:scope/:name/v/:version': () => ({ path: '/packages/@acme/maze/v/1.0.0' }),
  '/pictures/:scope/:name/:version': () => ({ path: '/pictures/@acme/maze/1.0.0' }),
  '/pictures/:scope/:name/:version/preview.png': () => ({ path: '/pictures/@acme/maze/1.0.0/preview.png' }),
  '/badges/:scope/:name': () => ({ path: '/badges/@acme/solver' }),
  '/runs/new': () => ({ path: '/runs/new?scenario=@acme/maze' }),
  '/runs/compare': ({ run, otherRun }) => ({ path: `/runs/compare?ids=${run}&ids=${otherRun}` }),
  '/runs/sweep': () => ({ path: '/runs/sweep?scenario=@acme/maze' }),
  '/runs/:id{[0-9a-f-]+}': ({ run }) => ({ path: `/runs/${run}` }),
  '/runs/:id{[0-9a-f-]+}/shared': ({ run }) => ({ path: `/runs/${run}/shared` }),
  '/runs/:id{[0-9a-f-]+}/shared/:secret': ({ run, secret }) => ({ path: `/runs/${run}/shared/${secret}` }),
  '/settings/organisations/:organisation': () => ({ path: '/settings/organisations/guild' }),
  '/settings/organisations/:organisation/sign-on': () => ({ path: '/settings/organisations/guild/sign-on' }),
  '/settings/webhooks/:id': ({ webhook }) => ({ path: `/settings/webhooks/${webhook}` }),
  '/docs/:slug': () => ({ path: '/docs/quickstart-author' }),
  '/docs/search': () => ({ path: '/docs/search?q=refund' }),
  '/docs/api/:group': () => ({ path: '/docs/api/errors' }),
  '/buy/:scope/:name': () => ({ path: '/buy/@acme/solver', as: 'operator' }),
  '/orders': () => ({ path: '/orders', as: 'buyer' }),
  '/licences': () => ({ path: '/licences', as: 'buyer' }),
  '/balance': () => ({ path: '/balance', as: 'buyer' }),
  '/payments/:id': ({ payment }) => ({ path: `/payments/${payment}`, as: 'buyer' }),
  '/orders/:id': ({ order }) => ({ path: `/orders/${order}`, as: 'buyer' }),
  '/orders/:id/refund': ({ order }) => ({ path: `/orders/${order}/refund`, as: 'buyer' }),
}

/** Paths that are no pages, and why. */
const noPages: Record<string, RegExp> = {
  'read by crawlers': /^\/(robots\.txt|sitemap\.xml|sitemaps\/.*)$/,
  'fetched by replays': /^\/runs\/.*\/episodes\/:iteration$/,
  'icons and the manifest': /^\/[\w-]+\.(png|ico|webmanifest)$/,
}
const isNoPage = (path: string) => Object.values(noPages).some((pattern) => pattern.test(path))

const visitors = { public: null, account: 'acme', member: 'acme', owner: 'acme', operator: 'operator' }
const routes = siteRoutes.filter(({ method, path }) => method === 'get' && !isNoPage(path))

/** Pages that a route shows in other states. */
const otherPages: Record<string, Visited & { status?: number }> = {
  'agents list': { path: '/packages?kind=agent', as: null },
  agent: { path: '/packages/@acme/solver', as: null },
  'no results': { path: '/packages?q=none-of-these', as: null },
  'no such page': { path: '/no/such', as: null, status: 404 },
  'taken down': { path: '/packages/@acme/banned', as: 'acme' },
  appeal: { path: '/packages/@acme/banned/appeal', as: 'acme' },
  'appeal that was sent': { path: '/packages/@acme/appealed/appeal', as: 'acme' },
}

/**
 * Most links and controls that a visitor sees of a page without scrolling, at 1440 by 900. To add one, fold or remove another: what
 * a visitor of the page does not need first has a place behind a disclosure.
 */
const mostControls: Record<string, number> = {
  '/': 17,
  '/packages': 22,
  'agents list': 20,
  '/packages/:scope/:name': 20,
  agent: 19,
  // Two agents, and the switch to compare them.
  '/packages/:scope/:name/agents': 21,
  '/packages/:scope/:name/agents/compare': 16,
  '/packages/:scope/:name/files': 24,
  '/packages/:scope/:name/versions': 20,
  '/packages/:scope/:name/reviews': 20,
  '/packages/:scope/:name/try': 20,
  '/packages/:scope/:name/play': 21,
  '/buy/:scope/:name': 3,
  '/orders/:id': 12,
  '/runs': 21,
  '/runs/new': 14,
  // The bell of unread notifications, what the curves show, and a link to each of two runs.
  '/runs/compare': 10,
  '/runs/sweep': 15,
  '/runs/:id{[0-9a-f-]+}': 12,
  '/runs/:id{[0-9a-f-]+}/shared/:secret': 8,
  '/dashboard': 24,
}

function sampleOf({ path, rule }: (typeof routes)[number]): Visited {
  const sample = samples[path]?.(filled)
  if (sample === undefined && path.includes(':')) throw new Error(`${path} has no sample here: give it one`)
  return { path: sample?.path ?? path, as: sample?.as ?? visitors[rule.access] }
}

const sessions = new Map<string, Promise<TestBrowser>>()

/** A logged-in user, created once. */
function browserOf(username: string): Promise<TestBrowser> {
  const known = sessions.get(username) ?? site.browserOf(username)
  sessions.set(username, known)
  return known
}

type Size = { width: number; height: number; colorScheme: 'light' | 'dark' }

const shortly: Size[] = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 360, height: 780, colorScheme: 'dark' },
]
const sizes: Size[] = [
  ...shortly,
  ...(isLong
    ? ([
        { width: 768, height: 1024, colorScheme: 'light' },
        { width: 768, height: 1024, colorScheme: 'dark' },
        { width: 1440, height: 900, colorScheme: 'dark' },
        { width: 360, height: 780, colorScheme: 'light' },
      ] as const)
    : []),
]

const visits = new Map<string, Promise<OpenedPage>>()

/** One browser page per user and size, reused for all URLs, because a new one takes a second. */
function visitorOf(username: string | null, size: Size): Promise<OpenedPage> {
  const key = `${username} ${size.width} ${size.colorScheme}`
  const known = visits.get(key) ?? openVisitorOf(username, size)
  visits.set(key, known)
  return known
}

async function openVisitorOf(username: string | null, { width, height, colorScheme }: Size): Promise<OpenedPage> {
  const visitor = await openVisitor(browser, { baseURL: site.url, viewport: { width, height }, colorScheme })
  // Their session, as a browser keeps it.
  const cookies = username === null ? [] : [...(await browserOf(username)).cookies]
  await visitor.context.addCookies(cookies.map(([name, value]) => ({ name, value, url: site.url })))
  return visitor
}

/** Axe costs more than all else here: each page gets it at one of the sizes, whatever other pages there are, or at both. */
function hasAxe(pattern: string, size: Size): boolean {
  const chosen = createHash('sha256').update(pattern).digest()[0] % shortly.length
  return isLong || chosen === shortly.indexOf(size)
}

it('visits every page', () => {
  const known = site.patterns().flatMap(({ method, path }) => (method === 'get' ? [path] : []))
  expect(known.filter((path) => !isNoPage(path) && !routes.some((one) => one.path === path))).toEqual([])
  expect(Object.entries(noPages).filter(([, pattern]) => !known.some((path) => pattern.test(path)))).toEqual([])
})

describe.each(sizes)('at $width px, $colorScheme', (size) => {
  const { width, colorScheme } = size
  const looks = [
    ...routes.map((one) => [one.path, () => ({ ...sampleOf(one), status: 200 })] as const),
    ...Object.entries(otherPages).map(([name, visited]) => [name, () => ({ status: 200, ...visited })] as const),
  ]
  it.each(looks)('%s', { timeout: 300_000 }, async (pattern, look) => {
    const { path, as, status } = look()
    const { page, complaints } = await visitorOf(as, size)
    const response = await page.goto(path, { waitUntil: 'load' })
    expect(response?.status()).toBe(status)
    const type = response?.headers()['content-type'] ?? ''
    if (pattern.endsWith('.atom')) {
      expect(type).toContain('application/atom+xml')
      return
    }
    if (/^\/(pictures|badges)\//.test(pattern)) {
      expect(type).toContain(pattern.endsWith('.png') ? 'image/png' : 'image/svg+xml')
      return
    }
    expect(type).toContain('text/html')
    expect((await response?.body())?.byteLength).toBeLessThan(100_000)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    // What is chosen as a form is drawn, no browser may hold against it.
    expect(await page.evaluate("[...document.querySelectorAll('select:invalid')].map(({ name }) => name)")).toEqual([])
    const name =
      pattern
        .replaceAll(/\{[^}]*\}/g, '')
        .replaceAll(/\W+/g, '-')
        .replaceAll(/^-|-$/g, '') || 'home'
    await page.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`), fullPage: true })
    if (width === 1440) {
      const found = await controlsInView(page)
      if (pattern in mostControls && found.length > mostControls[pattern])
        expect(found).toHaveLength(mostControls[pattern])
    }
    if (hasAxe(pattern, size)) expect(await axeFindings(page)).toEqual([])
    // Taken out: the next page starts with none, or with what this one says too late.
    const expected = status === 200 ? '' : `the server responded with a status of ${status}`
    expect(complaints.splice(0).filter((text) => expected === '' || !text.includes(expected))).toEqual([])
  })
})

it('first-party scripts are under 60 kB gzipped on browse and package pages', async () => {
  const looked = routes.filter(({ path }) => path === '/' || path.startsWith('/packages'))
  for (const one of looked) {
    const { path, as } = sampleOf(one)
    const visitor = as === null ? site.browser() : await browserOf(as)
    const { status, text } = await visitor.get(path)
    // An old address that leads to another of these, and feeds.
    if (status === 303 || !text.startsWith('<!doctype html>')) continue
    const scripts = [
      ...text.matchAll(/<script[^>]* src="([^"]+)"/g),
      ...text.matchAll(/"modulepreload" href="([^"]+)"/g),
    ]
    const sizes = await Promise.all(
      scripts.map(async ([, source]) => gzipSync(await (await fetch(site.url + source)).bytes()).byteLength),
    )
    expect([path, sizes.length > 0]).toEqual([path, true])
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(60_000)
  }
})
