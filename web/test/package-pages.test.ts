import { setTimeout as delay } from 'node:timers/promises'
import type { PackageAnalytics } from '@agentgym/contract'
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
const tabs = ['', '/files', '/agents', '/versions', '/dependencies', '/reviews', '/v/1.0.0']

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
      '/v1/packages/@acme/maze/versions/1.0.0/sample-episode',
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

  it('shows what would improve it to its members only', async () => {
    const advice = 'Missing: a README of'
    expect((await open('/packages/@acme/maze', owner)).text).toContain(advice)
    expect((await open('/packages/@acme/maze')).text).not.toContain(advice)
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
    // Its files stay on the server: others play it once they have bought it.
    const play = await open('/packages/@acme/paid/play')
    expect(play.text).toMatch(/Buy this scenario to play it in this page.*href="\/buy\/@acme\/paid"/s)
    expect(play.text).not.toContain('data-play=')
    expect((await open('/packages/@acme/paid/play', owner)).text).toContain('data-play=')
  })

  it('is played by visitors and by its agents; without JavaScript its recorded episode is shown', async () => {
    const { text } = await open('/packages/@acme/maze/play')
    const [, configuration] = /data-play="([^"]*)"/.exec(text) ?? []
    expect(JSON.parse((configuration ?? '').replaceAll('&quot;', '"'))).toMatchObject({
      name: '@acme/maze',
      version: '1.0.0',
      tarball: '/npm/@acme/maze/-/maze-1.0.0.tgz',
      agents: [{ name: '@acme/solver', tarball: '/npm/@acme/solver/-/solver-0.1.0.tgz' }],
    })
    expect(text).toMatch(/<noscript>.*Playing needs JavaScript.*data-replay.*<\/noscript>/s)
    expect(text).toMatch(/>@acme\/solver<\/a><\/th><td class="numeric">0\.5<\/td>/)
    expect(text).toMatch(/Random<\/th><td class="numeric">−?-?3\.5<\/td>/)
    const ofAgent = await open('/packages/@acme/solver/play')
    expect(ofAgent.text).toContain('@acme/solver&quot;')
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

  it('shows one snippet of each kind at a time, without a script', async () => {
    const { text } = await open('/packages/@acme/solver')
    const choices = [...text.matchAll(/<input [^>]*type="radio" name="(call|use)"( checked="")?\/>([^<]+)<\/label>/g)]
    expect(choices.map(([, group, checked = '', tab]) => `${group} ${tab}${checked}`)).toEqual([
      'call Python checked=""',
      ...['call JavaScript', 'call LangChain', 'call MCP'],
      'use npm checked=""',
      ...['use Node.js', 'use Python', 'use LangChain', 'use AutoGen', 'use CrewAI', 'use MCP'],
    ])
  })

  it('folds how it was made, below its results', async () => {
    const { text } = await open('/packages/@acme/solver')
    const [results, made] = text.split('<details class="package-made">')
    expect(results).toContain('id="evaluation"')
    for (const part of ['>Network<', 'id="spaces"', 'id="checks"']) {
      expect(results).not.toContain(part)
      expect(made).toContain(part)
    }
  })

  it('says why it has no learning curve', async () => {
    const { text } = await open('/packages/@acme/solver')
    expect(text).not.toContain('id="curve"')
    expect(text.split('class="package-made"')[1]).toContain(
      'No learning curve: this server shows those of its own runs',
    )
  })

  it('shows what its probabilities mean: the error of both, a curve, and its values', async () => {
    const { text } = await open('/packages/@acme/solver')
    expect(text).toMatch(/Most frequent confidence<\/dt><dd><span class="metric-value">9\d%<\/span>.*?right in 93%/s)
    expect(text).toMatch(
      /Calibration error<\/dt><dd><span class="metric-value">0\.\d%<\/span>.*?raw probability \d\.\d%/s,
    )
    const [plot] = text.match(/<svg class="reliability-plot".*?<\/svg>/s) ?? ['']
    expect(plot).toContain('aria-label="Reliability curve. Confidence: 62% predicted, 65% right;')
    expect(plot.match(/<circle/g)).toHaveLength(4)
    expect(plot.match(/<rect/g)).toHaveLength(3)
    expect(text).toMatch(
      /Reliability of the raw probability<\/caption>.*?>45%<\/th><td[^>]*>65%<\/td><td[^>]*>40<\/td>/s,
    )
  })

  it('shows players without training on the same episodes', async () => {
    const { text } = await open('/packages/@acme/solver')
    expect(text).toMatch(
      /Compared with baselines<\/caption>.*?>This agent<.*?>Keyword rules of the scenario<\/th><td[^>]*>81%<\/td><td[^>]*>0\.4<\/td><td[^>]*>missed<\/td>/s,
    )
    expect(text, 'measured, and said to be').toMatch(
      /SmolLM2-135M, zero-shot<\/th><td[^>]*>6% \(2% to 16%\).*?>163 ms<.*?>\$2\.3<.*?50 held-out episodes of seed 0.*?Measured by the publisher, not verified/s,
    )
  })

  it('has no leaderboard, and depends on its scenario', async () => {
    const { status, headers } = await open('/packages/@acme/solver/agents')
    expect([status, headers.get('location')]).toEqual([303, '/packages/@acme/solver'])
    expect((await open('/packages/@acme/solver/dependencies')).text).toContain('href="/packages/@acme/maze"')
    const { text } = await open('/packages/@acme/maze/dependencies')
    expect(text).toMatch(/Dependents[\s\S]*href="\/packages\/@acme\/solver"[\s\S]*agent 0\.1\.0 trained on it/)
  })
})

describe('files', () => {
  it('are a list and pages with line numbers, with a link to the bytes', async () => {
    const { text: list } = await open('/packages/@acme/maze/files')
    expect(list).toContain('href="/packages/@acme/maze/v/1.0.0/files/src/index.ts"')
    const { status, text } = await open('/packages/@acme/maze/v/1.0.0/files/src/index.ts')
    expect(status).toBe(200)
    expect(text).toMatch(/<span class="code-line" id="L1"><a class="code-number" href="#L1"[^>]*>1<\/a>/)
    expect(text).toContain('<span class="tok-keyword">export</span>')
    const [, download] = /href="([^"]+)" download/.exec(text) ?? ['', '']
    expect((await open(download)).text).toBe('export default {}\n')
    for (const path of ['missing', '%3Cscript%3E', '..%2f..%2fpackage.json'])
      expect((await open(`/packages/@acme/maze/v/1.0.0/files/${path}`)).status).toBe(404)
    expect((await open('/packages/@acme/maze/v/9.0.0/files')).status).toBe(404)
    expect((await open('/packages/@acme/solver/v/0.1.0/files/model.onnx')).text).toContain('Not shown')
  })

  it('are compared with those of another version, which a form chooses', async () => {
    const chosen = await open('/packages/@acme/maze/v/1.0.0/compare?base=1.0.0')
    expect(chosen.headers.get('location')).toBe('/packages/@acme/maze/v/1.0.0/compare/1.0.0')
    expect((await open('/packages/@acme/maze/v/1.0.0/compare/1.0.0')).text).toContain('No differences')
  })

  it('of a package that is sold are for buyers, who confirm that it uses their license', async () => {
    await publish('sold', null)
    await owner.api('PUT', '/v1/packages/@acme/sold/price', { kind: 'one_time', amount_minor: 500 })
    const buyer = await site.browserOf('reader')
    const list = '/packages/@acme/sold/v/1.0.0/files'
    const file = `${list}/src/index.ts`
    expect((await open(list, buyer)).text).toContain('once you own a license')
    expect((await open(file, buyer)).text).not.toContain('class="code"')
    expect((await open(`${list}/README.md`, buyer)).text).toContain('class="code"')
    await buyer.submit('/balance', '/balance/top-ups', { amount_minor: '40' })
    await buyer.submit('/buy/@acme/sold', '/buy/@acme/sold', { pay_with: 'balance' })
    expect((await open(file, buyer)).text).toContain('only the seller can refund')
    expect((await buyer.submit(file, list, {})).status).toBe(303)
    expect((await open(file, buyer)).text).toContain('<span class="tok-keyword">export</span>')
  })
})

describe('analytics', () => {
  const visit = (browser: TestBrowser, agent: string, referer?: string) =>
    browser.get('/packages/@acme/viewed', { 'user-agent': agent, ...(referer === undefined ? {} : { referer }) })

  it('count people who open the page, by where they came from, for admins of the account', async () => {
    await publish('viewed', null)
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    const search = `${site.url}/packages?q=viewed`
    await visit(site.browser(), firefox, search)
    await visit(site.browser(), firefox, search)
    await visit(site.browser(), `${firefox}.1`)
    await visit(site.browser(), 'Mozilla/5.0 (compatible; Googlebot/2.1)', search)
    await visit(owner, `${firefox}.2`, search)
    const address = '/packages/@acme/viewed/analytics'
    const read = async () => (await owner.api('GET', `/v1${address}`)).json() as Promise<PackageAnalytics>
    // Views are written every five seconds.
    let rows: PackageAnalytics['rows'] = []
    while (rows.length < 2) {
      await delay(200)
      rows = (await read()).rows
    }
    expect(rows.map(({ version, source, views }) => [version, source, views])).toEqual([
      ['1.0.0', 'link', 1],
      ['1.0.0', 'search', 1],
    ])
    const { status, text } = await open(address, owner)
    expect(status).toBe(200)
    expect(text).toMatch(/Search on this site<\/th><td class="numeric">.*?1/s)
    expect(text).toContain('/v1/packages/@acme/viewed/analytics.csv?days=30')
    expect((await open(address, await site.browserOf('reader'))).status).toBe(404)
    expect((await open('/packages/@acme/viewed', owner)).text).toContain(`href="${address}"`)
    expect((await open('/packages/@acme/viewed')).text).not.toContain(address)
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

  it('of a package that was taken down lead its members to an appeal, which the operators answer', async () => {
    await publish('copied', sampleEpisode())
    const operator = await site.browserOf('operator')
    await operator.api('POST', '/v1/packages/@acme/copied/take-down', { reason: 'Copied.' })
    const page = '/packages/@acme/copied/appeal'
    expect((await open('/packages/@acme/copied', owner)).text).toContain(`href="${page}"`)
    expect((await open('/packages/@acme/copied')).text).not.toContain(`href="${page}"`)
    expect((await open(page, await site.browserOf('stranger'))).text).toContain('Nothing to appeal')
    const empty = await owner.submit(page, page, { text: ' ' })
    expect([empty.status, empty.text.includes('id="field-text-wrong"')]).toEqual([422, true])
    expect((await owner.submit(page, page, { text: 'We wrote <b>it</b>.' })).headers.get('location')).toBe(page)
    expect((await open(page, owner)).text).toContain('Your appeal was sent')
    const moderation = await operator.get('/operator/moderation')
    expect(moderation.text).toContain('Reason of the decision: Copied.')
    expect(moderation.text).toContain('We wrote &lt;b&gt;it&lt;/b&gt;.')
    const [, decision = ''] = /action="(\/operator\/reports\/[^"]+)"/.exec(moderation.text) ?? []
    await operator.submit('/operator/moderation', decision, { decision: 'dismissed', reason: 'You did not.' })
    expect((await open(page, owner)).text).toContain('The appeal was dismissed')
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

describe('a comparison of agents', () => {
  const compare = '/packages/@acme/track/agents/compare'
  beforeAll(async () => {
    await publish('track', sampleEpisode())
    const sample = sampleEpisode({ policy: 'agent' })
    await publishVerified(site, owner, 'hare', '@acme/track', { sample, returnOf: (episode) => (episode % 10) + 2 })
    await publishVerified(site, owner, 'tortoise', '@acme/track', { sample, returnOf: (episode) => episode % 10 })
  })

  it('is chosen on the leaderboard', async () => {
    const { text } = await open('/packages/@acme/track/agents')
    expect(text).toContain(`<form method="get" action="${compare}"`)
    expect(text).toContain('aria-label="Compare @acme/hare"')
    // One agent alone cannot be compared.
    expect((await open('/packages/@acme/maze/agents')).text).not.toContain('Compare selected')
  })

  it('plays them in step, and pairs their returns by episode', async () => {
    const { status, text } = await open(`${compare}?agents=@acme/hare&agents=@acme/tortoise&agents=@acme/hare`)
    expect(status).toBe(200)
    expect(text.match(/class="replay-panel"/g)).toHaveLength(2)
    expect(text.match(/class="replay-range"/g)).toHaveLength(1)
    expect(text).toContain('@acme/tortoise minus @acme/hare, episode by episode: −2 (−2 to −2)')
    expect(text.match(/class="pic-curve-end"/g)).toHaveLength(100)
    expect(text).toContain('<meta name="robots" content="noindex"/>')
  })

  it('leads to the leaderboard without two agents, and refuses others', async () => {
    for (const query of ['', '?agents=@acme/hare', '?agents=@acme/hare&agents=@acme/hare']) {
      const { status, headers } = await open(compare + query)
      expect([status, headers.get('location')]).toEqual([303, '/packages/@acme/track/agents'])
    }
    for (const other of ['@acme/solver', '@acme/nobody', 'nobody', '@many/secret', hostile]) {
      const { status, text } = await open(`${compare}?agents=@acme/hare&agents=${encodeURIComponent(other)}`)
      expect([404, 422, 400]).toContain(status)
      expect(text).not.toContain('<script>')
    }
  })
})
