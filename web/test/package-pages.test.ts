import { listed } from '@agentgym/registry/testing'
import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { hostileReadme } from './hostile-readme.ts'
import { openPublisher, type PublishSampled } from './publish-sampled.ts'
import { publishVerified } from './publish-verified.ts'

const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(2)>`

const packages = [
  listed('@many/hostile', { title: hostile, summary: hostile, category: hostile, readme: hostileReadme }),
  listed('@many/plain', { title: 'Plain' }),
  listed('@many/secret', { title: 'Secret', visibility: 'private' }),
]

let site: TestSite
let owner: TestBrowser
let publish: PublishSampled
beforeAll(async () => {
  site = await openTestSite({ packages })
  const publisher = await openPublisher(site)
  owner = publisher.owner
  publish = publisher.publish
  await publish('maze', sampleEpisode())
  await publishVerified(site, owner, 'solver', '@acme/maze')
})
afterAll(() => site.close())

const open = (path: string, browser = site.browser()) => browser.get(path)
const tabs = ['', '/agents', '/versions', '/dependencies', '/reviews', '/v/1.0.0']

describe.each(tabs)('a hostile package, %j', (tab) => {
  it('is escaped, in one document with the common policy', async () => {
    const { status, headers, text } = await open(`/packages/@many/hostile${tab}`)
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'")
    const tags = text.match(/<[a-z][^<>]*>/gi) ?? []
    for (const tag of tags) {
      const attributes = tag.replaceAll(/"[^"]*"/g, '""')
      expect(attributes).not.toMatch(/\s(style|on\w+|srcdoc)=/)
      expect(tag).not.toMatch(/\s(src|href|action)="(?!\/(?!\/)|#|https?:\/\/|mailto:)/)
      expect(tag).not.toMatch(/^<(img|style|iframe|object|embed|base|form action="http)/)
    }
    expect(tags.filter((tag) => tag.startsWith('<script'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/^<script type="module" src="\/assets\/[\w.-]+\.js">$/)]),
    )
    expect(text).not.toMatch(/<script(?! type="module" src="\/assets\/)/)
    expect(text.match(/<h1\b/g)).toHaveLength(1)
    expect(Buffer.byteLength(text)).toBeLessThan(100_000)
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)
    expect(ids).toEqual([...new Set(ids)])
  })
})

it('a README keeps tables, lists, every direction and script', async () => {
  const { text } = await open('/packages/@many/hostile')
  expect(text).toContain('<table tabindex="0">')
  expect(text).toContain('<h3 dir="auto">倒立振子</h3>')
  expect(text).toContain('<p dir="auto">مرحبا، هذا سيناريو عربة وعمود</p>')
  expect(text).toContain('aria-label="done"')
  expect(text).not.toContain('javascript:')
})

describe('a scenario', () => {
  it('shows episode, success criteria, spaces, checks, and how to get it', async () => {
    const { status, text } = await open('/packages/@acme/maze')
    expect(status).toBe(200)
    for (const part of [
      'data-replay="/v1/packages/@acme/maze/versions/1.0.0/sample-episode"',
      'agentgym install @acme/maze',
      'agentgym train @acme/maze',
      'href="/runs/new?scenario=%40acme%2Fmaze"',
      '>Free<',
      'left, right',
      '1 of 1 checks passed',
      '<dd>MIT</dd>',
    ])
      expect(text).toContain(part)
    expect(text).toMatch(/<code>return_mean<\/code><\/th><td class="numeric">0\.9<\/td>/)
    // What the page is called is not said twice.
    expect(text).not.toContain('<h2 dir="auto">Maze</h2>')
  })

  it('lists its levels, with what players without training reach', async () => {
    const levels = [
      { name: 'open', description: 'No walls', random: 0.125, oracle: 1 },
      { name: '<narrow>', random: null, oracle: 0.5 },
    ]
    await publish('graded', null, 'public', true, levels)
    const { text } = await open('/packages/@acme/graded')
    const [, table = ''] =
      /<caption class="visually-hidden">Levels and mean returns<\/caption>(.*?)<\/table>/s.exec(text) ?? []
    expect([...table.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell).slice(4)).toEqual(
      [
        ['open', 'No walls', '0.125', '1'],
        ['&lt;narrow&gt;', '', '–', '0.5'],
      ].flat(),
    )
    expect((await open('/packages/@acme/maze')).text).not.toContain('Levels and mean returns')
  })

  it('ranks its verified agents', async () => {
    const { text } = await open('/packages/@acme/maze/agents')
    expect(text).toMatch(/href="\/packages\/@acme\/solver">@acme\/solver<span class="dim">@0\.1\.0/)
    expect(text).toContain('PPO')
    expect((await open('/packages/@many/plain/agents')).text).toContain('No verified agents yet')
    expect((await open('/packages/@acme/maze/agents?cursor=nonsense')).status).toBe(422)
  })

  it('with a price is offered; its own account has it', async () => {
    await publish('paid', null)
    const price = { kind: 'one_time', amount_minor: 1250 }
    expect((await owner.api('PUT', '/v1/packages/@acme/paid/price', price)).status).toBe(200)
    const { text } = await open('/packages/@acme/paid')
    for (const part of ['$12.50', 'href="/buy/@acme/paid"', 'For all 1.x versions']) expect(text).toContain(part)
    expect(text).not.toContain('Train on this server')
    const own = await open('/packages/@acme/paid', owner)
    expect(own.text).toContain('Yours')
    expect(own.text).not.toContain('href="/buy/')
  })
})

describe('an agent', () => {
  it('shows its scenario, the re-run results, and the signature', async () => {
    const { text } = await open('/packages/@acme/solver')
    expect(text).toContain('href="/packages/@acme/maze/v/1.0.0"')
    expect(text).toContain('agentgym agent verify @acme/solver@0.1.0')
    expect(text).toMatch(/class="seal" href="#evaluation"[\s\S]*?<span>Verified<\/span><code>[\w+/]{8}<\/code>/)
    expect(text).toMatch(/Mean return \(held-out\)<\/dt><dd><span class="metric-value">0\.5<\/span>/)
    expect(text).toContain('b'.repeat(64))
    expect(text).toMatch(/Results by level<\/caption>.*>narrow<\/th><td[^>]*>5<\/td><td[^>]*>0\.95<\/td>/s)
    expect(text).toContain(`npm install @acme/solver --@acme:registry=${site.url}/npm/`)
    expect(text).toContain(`OpenAI(base_url=&quot;${site.url}/v1&quot;`)
    expect(text).toContain('href="/packages/@acme/solver/try"')
  })

  it('has no leaderboard, and depends on its scenario', async () => {
    const { status, headers } = await open('/packages/@acme/solver/agents')
    expect([status, headers.get('location')]).toEqual([303, '/packages/@acme/solver'])
    expect((await open('/packages/@acme/solver/dependencies')).text).toContain('href="/packages/@acme/maze"')
    const { text } = await open('/packages/@acme/maze/dependencies')
    expect(text).toMatch(/Dependents[\s\S]*href="\/packages\/@acme\/solver"[\s\S]*agent 0\.1\.0 trained on it/)
  })
})

describe('versions', () => {
  it('show tags, yanks and deprecations', async () => {
    await publish('marked', null)
    const path = '/v1/packages/@acme/marked/versions/1.0.0'
    await owner.api('PUT', `${path}/deprecation`, { message: `Use <b>maze</b> instead` })
    const { text } = await open('/packages/@acme/marked/versions')
    expect(text).toMatch(/badge-good">latest<.*badge-warning">deprecated<.*Use &lt;b&gt;maze&lt;\/b&gt; instead/)
    expect((await open('/packages/@acme/marked')).text).toContain('The latest version is deprecated: Use &lt;b&gt;')
    await owner.api('PUT', `${path}/yank`)
    const yanked = await open('/packages/@acme/marked/v/1.0.0', owner)
    expect(yanked.text).toContain('Version 1.0.0 was yanked')
    expect(yanked.text).toContain('agentgym install @acme/marked@1.0.0')
  })

  it('that were rejected are shown to members with the reason, not to others', async () => {
    await publish('broken', null, 'public', false)
    const path = '/packages/@acme/broken/v/1.0.0'
    const { status, text } = await open(path, owner)
    expect(status).toBe(200)
    expect(text).toContain('Version 1.0.0 was rejected')
    expect(text).toContain('It does not load.')
    expect((await open('/packages/@acme/broken', owner)).text).toContain('No published versions yet')
    expect((await open('/packages/@acme/broken/versions', owner)).text).toContain('badge-bad">rejected<')
    for (const address of [path, '/packages/@acme/broken', '/packages/@acme/broken/versions'])
      expect((await open(address)).status).toBe(404)
  })

  it('of a package that was taken down are visible to members; others see the reason', async () => {
    await publish('gone', sampleEpisode())
    const operator = await site.browserOf('operator')
    const taken = await operator.api('POST', '/v1/packages/@acme/gone/take-down', { reason: 'It mines <b>coins</b>' })
    expect(taken.status).toBe(200)
    for (const tab of ['', '/agents', '/versions', '/dependencies', '/reviews']) {
      const { status, text } = await open(`/packages/@acme/gone${tab}`)
      expect([tab, status]).toEqual([tab, 200])
      expect(text).toContain('It mines &lt;b&gt;coins&lt;/b&gt;')
      expect(text).not.toContain('agentgym install')
      expect(text).toContain('name="robots" content="noindex"')
    }
    expect((await open('/packages/@acme/gone/v/1.0.0')).status).not.toBe(200)
    expect((await open('/packages/@acme/gone', owner)).text).toContain('agentgym install @acme/gone')
  })

  it('that are missing or hidden look the same to others', async () => {
    for (const tab of ['', '/agents', '/versions', '/reviews', '/v/1.0.0', '/dependencies']) {
      const [secret, absent] = await Promise.all([
        open(`/packages/@many/secret${tab}`),
        open(`/packages/@many/secrex${tab}`),
      ])
      expect([secret.status, absent.status]).toEqual([404, 404])
      expect(secret.text.replaceAll('secret', 'secrex')).toBe(absent.text)
    }
    expect((await open('/packages/@acme/maze/v/9.9.9')).status).toBe(404)
  })
})
