import { createClient, sendResult } from '@agentgym/client'
import { leasedJobSchema, type SampleEpisode } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { goodTarball } from '../../testdata/tarballs/good-package.ts'
import { openTestSite, type TestBrowser, type TestSite } from './open-test-site.ts'

let site: TestSite
let owner: TestBrowser
let worker: string
let token: string

beforeAll(async () => {
  site = await openTestSite()
  owner = await site.browserOf('acme')
  const operator = await site.browserOf('operator')
  token = await tokenOf(owner, ['packages:read', 'packages:publish'])
  worker = await tokenOf(operator, ['worker'])
})
afterAll(() => site.close())

async function tokenOf(browser: TestBrowser, scopes: string[]): Promise<string> {
  const response = await browser.api('POST', '/v1/tokens', { name: 'test', scopes })
  const { token } = (await response.json()) as { token: string }
  return token
}

/** Publishes `@acme/BASE` 1.0.0 as the worker's check finds it. */
async function publish(base: string, sample: SampleEpisode | null, visibility = 'public'): Promise<void> {
  const name = `@acme/${base}`
  const client = (bearer: string) => createClient({ server: site.url, token: bearer })
  const path = `/v1/packages/${name}/versions/1.0.0?visibility=${visibility}`
  const body = new Uint8Array(goodTarball({ name }))
  const headers = { 'content-type': 'application/octet-stream' }
  await client(token).send(path, { method: 'PUT', body, headers })
  const leased = await client(worker).send('/v1/jobs/lease', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kinds: ['check'] }),
  })
  const report = { ok: true, name, version: '1.0.0', checks: [{ id: 'loads', ok: true, message: 'It loads.' }] }
  await sendResult(client(worker), leasedJobSchema.parse(await leased.json()), report, { sample })
}

describe('pictures of versions', () => {
  it('are drawn from the episode that the check wrote down, and may load and run nothing', async () => {
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
    expect(text).toMatch(
      /^<svg class="picture" viewBox="0 0 320 240" aria-hidden="true" xmlns="http:\/\/www\.w3\.org\/2000\/svg"><style>/,
    )
    const { text: list } = await site.browser().get('/packages')
    expect(list).toContain('src="/pictures/@acme/drawn/1.0.0"')
  })

  it('are emblems where there is no episode', async () => {
    await publish('plain', null)
    const { status, text } = await site.browser().get('/pictures/@acme/plain/1.0.0')
    expect(status).toBe(200)
    expect(text).toContain('class="pic-emblem"')
  })

  it('of private packages are for those who may see them', async () => {
    await publish('secret', sampleEpisode(), 'private')
    expect((await owner.get('/pictures/@acme/secret/1.0.0')).status).toBe(200)
    for (const browser of [site.browser(), await site.browserOf('other')])
      expect((await browser.get('/pictures/@acme/secret/1.0.0')).status).toBe(404)
    expect((await owner.get('/pictures/@acme/secret/9.0.0')).status).toBe(404)
  })
})
