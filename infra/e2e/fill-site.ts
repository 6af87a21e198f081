import type { TestBrowser, TestSite } from '@agentgym/testkit/site'
import { sampleEpisode } from '../../testdata/episodes/sample-episode.ts'
import { openPublisher } from '../../web/test/publish-sampled.ts'
import { publishVerified } from '../../web/test/publish-verified.ts'
import { trainABit } from '../../web/test/train-a-bit.ts'

/** Ids of what was made. */
export type FilledSite = {
  webhook: string
  run: string
  otherRun: string
  secret: string
  payment: string
  order: string
}

/**
 * Something for every page: `acme` has a scenario, a verified agent that is sold, runs, an organization `guild`, a token
 * and a spend limit, and two packages that were taken down, of which it appeals one; `buyer` has paid, bought, reviewed and reported; `operator` has all of it to look after.
 */
export async function fillSite(site: TestSite): Promise<FilledSite> {
  const { owner, publish } = await openPublisher(site)
  await publish('maze', sampleEpisode())
  await publishVerified(site, owner, 'solver', '@acme/maze', { returnOf: (episode) => episode % 7 })
  const sample = sampleEpisode({ policy: 'agent' })
  await publishVerified(site, owner, 'walker', '@acme/maze', { sample, returnOf: (episode) => episode % 5 })
  for (const base of ['banned', 'appealed']) {
    await publish(base, sampleEpisode())
    await done(await site.browserOf('operator'), 'POST', `/v1/packages/@acme/${base}/take-down`, { reason: 'Copied.' })
  }
  await done(owner, 'POST', '/v1/packages/@acme/appealed/appeals', { text: 'It is my own.' })
  const price = { kind: 'one_time', amount_minor: 2_500, terms: 'Not for resale.' }
  await done(owner, 'PUT', '/v1/packages/@acme/solver/price', price)
  await done(owner, 'POST', '/v1/organisations', { username: 'guild' })
  await done(owner, 'POST', '/v1/tokens', { name: 'ci', scopes: ['packages:read'] })
  const webhook = await done<{ id: string }>(owner, 'POST', '/v1/webhooks', { url: 'https://hooks.example.com/gym' })
  await done(owner, 'PUT', '/v1/spend-caps', { period: 'month', amount_minor: 5_000 })
  const run = await done<{ id: string }>(owner, 'POST', '/v1/runs', { scenario: '@acme/maze', steps: 5_000 })
  await trainABit(site)
  const otherRun = await done<{ id: string }>(owner, 'POST', '/v1/runs', { scenario: '@acme/maze', note: 'Waits' })
  const { url } = await done<{ url: string }>(owner, 'POST', `/v1/runs/${run.id}/link`, {})
  await done(owner, 'PUT', `/v1/runs/${run.id}/sharing`, { public: true })
  const buyer = await site.browserOf('buyer')
  const payment = await submit(buyer, '/balance', '/balance/top-ups', { amount_minor: '40' })
  const order = await submit(buyer, '/buy/@acme/solver', '/buy/@acme/solver', { pay_with: 'balance' })
  await done(buyer, 'PUT', '/v1/packages/@acme/solver/reviews', { version: '0.1.0', stars: 4, text: 'It solves.' })
  await done(buyer, 'POST', '/v1/reports', { package: '@acme/maze', reason: 'spam', text: 'Look at it.' })
  return {
    webhook: webhook.id,
    run: run.id,
    otherRun: otherRun.id,
    secret: lastPart(url),
    payment: lastPart(payment),
    order: lastPart(order),
  }
}

async function done<Answer>(browser: TestBrowser, method: string, path: string, body: unknown): Promise<Answer> {
  const response = await browser.api(method, path, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** Sends a form that is to work; where it led. */
async function submit(browser: TestBrowser, page: string, action: string, fields: Record<string, string>) {
  const { status, headers, text } = await browser.submit(page, action, fields)
  const location = headers.get('location')
  if (status !== 303 || location === null) throw new Error(`${action}: ${status} ${text.slice(0, 2_000)}`)
  return location
}

const lastPart = (address: string): string => address.split('?')[0].split('/').at(-1) ?? ''
