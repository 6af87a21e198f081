import { listed } from '@agentgym/registry/testing'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { siteRoutes } from '../src/app/site-routes.ts'

const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>`
const rtl = 'سيناريو عربة'

const packages = [
  listed('@acme/cart-pole', {
    title: 'Cart pole',
    summary: 'Balance a pole on a cart',
    downloads: 12_345,
    quality: 90,
  }),
  listed('@acme/maze', { title: hostile, summary: hostile, keywords: [hostile], category: 'planning' }),
  listed('@acme/japanese', { title: '倒立振子', summary: rtl }),
  listed('@labs/pole-agent', { kind: 'agent', title: 'Pole agent', price_minor: 1250, algorithm: 'grpo' }),
  ...Array.from({ length: 44 }, (_, index) =>
    listed(`@many/number-${index}`, { title: `Number ${index}`, category: 'games', downloads: index }),
  ),
]

let site: TestSite
let empty: TestSite
beforeAll(async () => {
  site = await openTestSite({ packages })
  const command = { version: '1.2.3', integrity: 'sha512-AAAA', bytes: Uint8Array.of(0x1f, 0x8b) }
  empty = await openTestSite({
    command,
    environment: { AGENTGYM_GITHUB_CLIENT_ID: 'a', AGENTGYM_GITHUB_CLIENT_SECRET: 'b' },
  })
})
afterAll(() => Promise.all([site.close(), empty.close()]))

const open = (path: string, headers: Record<string, string> = {}) => site.browser().get(path, headers)
const namesIn = (text: string) =>
  [...text.matchAll(/class="package-row-name"><a href="\/packages\/([^"]+)"/g)].map(([, name]) => name)

/** Pages that need nothing, with what is asked of them at its worst. */
const addresses = [
  ...siteRoutes
    .filter(({ method, path, rule }) => method === 'get' && rule.access === 'public' && !/[:.]/.test(path))
    .map(({ path }) => path),
  `/packages?q=${encodeURIComponent(hostile)}`,
  `/packages?category=${encodeURIComponent(hostile)}`,
  `/login?next=${encodeURIComponent(`/${hostile}`)}`,
  `/no/such/${encodeURIComponent(hostile)}`,
  '/no/such/%E0%A4%A',
]

describe.each(addresses)('%s', (address) => {
  it('loads only resources of this server', async () => {
    const { headers, text } = await open(address)
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; manifest-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    const scripts = [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)]
    for (const [script, inside] of scripts) {
      expect(script).toMatch(/^<script type="module" src="\/assets\/[\w.-]+\.js">/)
      expect(inside).toBe('')
    }
    // Outside of quoted values, where text may say anything.
    const tags = text.match(/<[a-z][^<>]*>/g) ?? []
    for (const tag of tags) {
      if (tag.startsWith('<link rel="canonical"')) continue
      const attributes = tag.replaceAll(/"[^"]*"/g, '""')
      expect(attributes).not.toMatch(/\s(style|on\w+)=/)
      expect(tag).not.toMatch(/\s(src|href|action)="(?!\/(?!\/)|#)/)
    }
    expect(text).not.toContain('<style')
  })

  it('escapes untrusted text', async () => {
    const { text } = await open(address)
    expect(text).not.toContain('<script>alert')
    expect(text).not.toContain('<img src=x')
    expect(text).not.toContain('onerror=alert(2)>')
  })

  it('is one document with a title', async () => {
    const { text } = await open(address)
    expect(text.match(/<h1\b/g)).toHaveLength(1)
    expect(text.match(/<main\b/g)).toHaveLength(1)
    expect(text).toMatch(/^<!doctype html><html lang="en"/)
    expect(text).toMatch(/<title>[^<]+ · AgentGym<\/title>/)
    expect(Buffer.byteLength(text)).toBeLessThan(100_000)
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
  })
})

describe('browse', () => {
  it('counts, and filters by the URL', async () => {
    const { text } = await open('/packages')
    expect(text).toContain('48 packages')
    expect(text).toMatch(
      /href="\/packages\?kind=agent"[^>]*><span class="facet-value">Agent<\/span><span class="facet-count">1</,
    )
    const agents = await open('/packages?kind=agent')
    expect(namesIn(agents.text)).toEqual(['@labs/pole-agent'])
    expect(agents.text).toContain('1 package<')
    expect(agents.text).toContain('$12.50')
    // The chosen one takes itself out; another facet keeps it.
    expect(agents.text).toMatch(/href="\/packages" aria-current="true"/)
    expect(agents.text).toContain('href="/packages?kind=agent&amp;algorithm=grpo"')
  })

  it('pages through everything once', async () => {
    const seen: string[] = []
    let next: string | undefined = '/packages?category=games&sort=downloads'
    for (let pages = 0; next !== undefined; pages++) {
      expect(pages).toBeLessThan(4)
      const { text } = await open(next)
      seen.push(...namesIn(text))
      next = /class="pager"[\s\S]*?href="([^"]*cursor=[^"]*)"/.exec(text)?.[1].replaceAll('&amp;', '&')
    }
    expect(seen).toEqual(Array.from({ length: 44 }, (_, index) => `@many/number-${43 - index}`))
  })

  it('keeps the search text, and supports scripts of every direction', async () => {
    const { text } = await open('/packages?q=倒立')
    expect(text).toContain('name="q" type="search" value="倒立"')
    expect(text).toContain(rtl)
    const none = await open('/packages?q=zzzzzz&kind=agent')
    expect(none.status).toBe(200)
    expect(none.text).toContain('No results')
  })

  it('reports an invalid cursor', async () => {
    const { status, text } = await open('/packages?cursor=nonsense')
    expect(status).toBe(422)
    expect(text).toContain('cursor')
  })

  it('explains the empty state before anything is published', async () => {
    const { text } = await empty.browser().get('/packages')
    expect(text).toContain('agentgym scenario init my-scenario')
    expect((await empty.browser().get('/')).text).toContain('No scenarios yet')
  })
})

describe('a missing page', () => {
  it('suggests similar names', async () => {
    const { status, text } = await open('/packages/@acme/cart-pol')
    expect(status).toBe(404)
    expect(namesIn(text)).toContain('@acme/cart-pole')
    expect(text).toContain('name="robots" content="noindex"')
  })

  it('redirects an extra slash to the page without it, on this site', async () => {
    const location = async (path: string) => (await open(path)).headers.get('location')
    expect(await location('/packages/?kind=agent')).toBe('/packages?kind=agent')
    expect(await location('/packages//')).toBe('/packages')
    const response = await fetch(`${site.url}//evil.example/`, { redirect: 'manual' })
    expect(['/', null]).toContain(response.headers.get('location'))
  })

  it('also without similar names, and for invalid paths', async () => {
    for (const path of [
      '/qqqqqqqq',
      '/%00',
      '/..%2f..%2fetc%2fpasswd',
      '/assets/../../package.json',
      '/assets/none.js',
    ])
      expect([path, (await open(path)).status]).toEqual([path, 404])
  })

  it('the API is not affected', async () => {
    const response = await fetch(`${site.url}/v1/no-such-thing`)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe('endpoint_not_found')
  })
})

describe('search engines', () => {
  it('find every public package and page, and no others', async () => {
    const robots = await open('/robots.txt')
    expect(robots.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(robots.text).toContain(`Sitemap: ${site.url}/sitemap.xml`)
    expect(robots.text).toMatch(/^Disallow: \/settings\/$/m)
    const locations = async (path: string) => {
      const { status, headers, text } = await open(path)
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'application/xml; charset=utf-8'])
      return [...text.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, address]) => address.replace(site.url, ''))
    }
    const parts = await locations('/sitemap.xml')
    const listedIn = (await Promise.all(parts.map(locations))).flat()
    for (const { name } of packages) expect(listedIn).toContain(`/packages/${name}`)
    for (const path of listedIn)
      expect([path, (await open(path)).text.includes('rel="canonical"')]).toEqual([path, true])
    for (const path of ['/sitemaps/packages-0.xml', '/sitemaps/packages-40000.xml', '/sitemaps/none.xml'])
      expect([path, (await open(path)).status]).toEqual([path, 404])
  })

  it('index each page under one address', async () => {
    const canonical = async (path: string) => /rel="canonical" href="([^"]+)"/.exec((await open(path)).text)?.[1]
    expect(await canonical('/')).toBe(`${site.url}/`)
    expect(await canonical('/packages?sort=newest&kind=agent')).toBe(`${site.url}/packages?kind=agent`)
    for (const path of ['/packages?q=pole', '/no/such']) {
      expect(await canonical(path)).toBeUndefined()
      expect((await open(path)).text).toContain('content="noindex"')
    }
  })
})

describe('log-in', () => {
  it('through other providers is offered if configured', async () => {
    expect((await open('/login')).text).not.toContain('/v1/oauth/')
    const { text } = await empty.browser().get('/login?next=/packages?kind=agent')
    expect(text).toContain('href="/v1/oauth/github?return_to=%2Fpackages%3Fkind%3Dagent"')
    expect(text).not.toContain('oauth/google')
  })
})

describe('browser caching', () => {
  it('a public page is revalidated; one with a session is not cached', async () => {
    expect((await open('/packages')).headers.get('cache-control')).toBe('private, no-cache')
    expect((await open('/login')).headers.get('cache-control')).toBe('no-store')
    expect((await (await site.browserOf('ada')).get('/packages')).headers.get('cache-control')).toBe('no-store')
  })

  it('an unchanged page is not sent again', async () => {
    const etag = (await open('/publish')).headers.get('etag') ?? ''
    const again = await open('/publish', { 'if-none-match': etag })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    expect((await open('/publish', { 'if-none-match': 'W/"other"' })).status).toBe(200)
    expect((await (await site.browserOf('ada')).get('/publish')).headers.get('etag')).toBeNull()
  })

  it('anonymous readers get no cookie', async () => {
    for (const path of ['/', '/packages', '/packages?q=pole', '/no/such'])
      expect((await open(path)).headers.getSetCookie()).toEqual([])
  })

  it('content of a session is never shown to others', async () => {
    const member = await site.browserOf('ada')
    expect((await member.get('/packages?q=cart')).text).toContain('menu-name">ada<')
    const { text } = await open('/packages?q=cart')
    expect(text).not.toContain('ada')
    expect(text).toContain('href="/login?next=%2Fpackages%3Fq%3Dcart"')
  })
})

it('shows how to install the command from this server, where the server offers it', async () => {
  for (const path of ['/', '/publish', '/docs/install', '/docs/quickstart-buyer']) {
    const { text } = await empty.browser().get(path)
    expect(text, path).toContain(`npm install -g --ignore-scripts ${empty.url}/cli/agentgym.tgz`)
    expect((await open(path)).text, path).not.toContain('agentgym.tgz')
  }
  expect((await open('/docs/install')).text).toContain(`AGENTGYM_SERVER=${site.url} agentgym login`)
  const tarball = await fetch(`${empty.url}/cli/agentgym.tgz`)
  expect([...new Uint8Array(await tarball.arrayBuffer())]).toEqual([0x1f, 0x8b])
  expect((await fetch(`${site.url}/cli/agentgym.tgz`)).status).toBe(404)
})
