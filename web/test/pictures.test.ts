import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { openPublisher, type PublishSampled } from './publish-sampled.ts'

let site: TestSite
let owner: TestBrowser
let publish: PublishSampled

beforeAll(async () => {
  site = await openTestSite()
  const publisher = await openPublisher(site)
  owner = publisher.owner
  publish = publisher.publish
})
afterAll(() => site.close())

describe('pictures of versions', () => {
  it('are drawn from the recorded episode, and load and run nothing', async () => {
    const label = '<script>alert(1)</script>&"'
    await publish('drawn', sampleEpisode({ view: { kind: 'lines', labels: [label] } }))
    const { status, headers, text } = await site.browser().get('/pictures/@acme/drawn/1.0.0')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;')
    expect(text).not.toContain('<script')
    expect(text.match(/pic-series/g)?.length).toBeGreaterThanOrEqual(2)
    for (const rule of ['--ink: light-dark(', '.pic-series { stroke: var(--chart-1)']) expect(text).toContain(rule)
    expect(text).toMatch(
      /^<svg class="picture" viewBox="0 0 320 240" aria-hidden="true" xmlns="http:\/\/www\.w3\.org\/2000\/svg"><style>/,
    )
    const { text: list } = await site.browser().get('/packages')
    expect(list).toContain('src="/pictures/@acme/drawn/1.0.0"')
  })

  it('are emblems without an episode', async () => {
    await publish('plain', null)
    const { status, text } = await site.browser().get('/pictures/@acme/plain/1.0.0')
    expect(status).toBe(200)
    expect(text).toContain('class="pic-emblem"')
  })

  it('are PNG files for links from other sites, named by the pages', async () => {
    await publish('linked', sampleEpisode())
    const { text: page } = await site.browser().get('/packages/@acme/linked')
    const address = `${site.url}/pictures/@acme/linked/1.0.0/preview.png`
    expect(page).toContain(`<meta property="og:image" content="${address}"/>`)
    expect(page).toContain('<meta name="twitter:card" content="summary_large_image"/>')
    const response = await fetch(address)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect((await response.bytes()).slice(0, 8)).toEqual(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10))
    const { text: list } = await site.browser().get('/packages')
    expect(list).toContain('<meta name="twitter:card" content="summary"/>')
    expect(list).not.toContain('og:image')
  })

  it('of private packages are visible to members only', async () => {
    await publish('secret', sampleEpisode(), 'private')
    expect((await owner.get('/pictures/@acme/secret/1.0.0')).status).toBe(200)
    for (const browser of [site.browser(), await site.browserOf('other')])
      for (const path of ['1.0.0', '1.0.0/preview.png'])
        expect((await browser.get(`/pictures/@acme/secret/${path}`)).status).toBe(404)
    expect((await owner.get('/pictures/@acme/secret/9.0.0')).status).toBe(404)
  })
})
