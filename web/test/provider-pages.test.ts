import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openTestSite, type TestBrowser, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPublisher } from './publish-sampled.ts'

/** As much of Stripe as these pages meet: checkouts, accounts, and the addresses of its pages. */
let provider: Server
/** Whether it answers at all; what it was asked for, by the key that makes a repetition harmless. */
let up = true
const requested = new Set<string>()
let site: TestSite
let seller: TestBrowser
let buyer: TestBrowser

const noted = ({ url, headers }: IncomingMessage) =>
  requested.add(`${url?.split('?')[0]} ${headers['idempotency-key']}`)

function answerOf({ url = '', headers }: IncomingMessage): unknown {
  const address = (name: string) => `https://stripe.example/${name}`
  if (url.startsWith('/v1/checkout/sessions')) {
    const id = `cs_${headers['idempotency-key']}`
    return { id, object: 'checkout.session', url: address(`pay/${id}`), payment_status: 'unpaid', status: 'open' }
  }
  if (url.startsWith('/v1/account_links')) return { object: 'account_link', url: address('onboarding') }
  return { id: 'acct_1', object: 'account', payouts_enabled: false, capabilities: {}, external_accounts: { data: [] } }
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') noted(request)
      response.writeHead(up ? 200 : 500, { 'content-type': 'application/json' })
      response.end(JSON.stringify(up ? answerOf(request) : { error: { type: 'api_error', message: 'down' } }))
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  site = await openTestSite({
    environment: {
      AGENTGYM_STRIPE_SECRET_KEY: 'sk_test_stand_in',
      AGENTGYM_STRIPE_WEBHOOK_SECRET: 'whsec_stand_in',
      AGENTGYM_STRIPE_API_ADDRESS: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
      AGENTGYM_MONEY_ON_PGLITE: 'allow',
    },
  })
  const { owner, publish } = await openPublisher(site)
  seller = owner
  await publish('ware', null)
  await seller.api('PUT', '/v1/packages/@acme/ware/price', { kind: 'one_time', amount_minor: 2_500 })
  buyer = await site.browserOf('buyer')
})
afterAll(async () => {
  await site.close()
  await new Promise((resolve) => provider.close(resolve))
})

const path = '/buy/@acme/ware'
const leadsTo = (page: { headers: Headers }) => page.headers.get('location') ?? ''
const onceIn = (text: string) => /name="idempotency_key" value="([^"]+)"/.exec(text)?.[1] ?? ''

it('orders link to the provider instead of redirecting, and return to the same order', async () => {
  const bought = await buyer.submit(path, path, { pay_with: 'provider' })
  expect(leadsTo(bought)).toMatch(/^\/orders\//)
  const { text } = await buyer.get(leadsTo(bought))
  expect(text).toContain('awaiting payment')
  expect(text).toMatch(/<a class="button button-primary" href="https:\/\/stripe\.example\/pay\/cs_[^"]+"/)
  expect(leadsTo(await buyer.submit(path, path, { pay_with: 'provider' }))).toBe(leadsTo(bought))
  const cancel = `${leadsTo(bought)}/cancel`
  expect(leadsTo(await buyer.submit(leadsTo(bought), cancel, {}))).toBe(leadsTo(bought))
  const cancelled = await buyer.get(leadsTo(bought))
  expect(cancelled.text).toContain('canceled')
  expect(cancelled.text).not.toContain('stripe.example')
})

it('an unresponsive provider: the form can be resubmitted with the same key', async () => {
  up = false
  const topUp = await buyer.submit('/balance', '/balance/top-ups', { amount_minor: '12.50' })
  expect(topUp.status).toBe(503)
  expect(topUp.text).toContain('Submit the form again in a moment')
  expect(topUp.text).toContain('value="12.50"')
  const once = onceIn(topUp.text)
  const form_token = await buyer.formToken('/balance')
  const failed = await buyer.submit(path, path, { pay_with: 'provider' })
  expect([failed.status, failed.text.includes('Submit the form again in a moment')]).toEqual([503, true])
  up = true
  const again = await buyer.post('/balance/top-ups', { form_token, idempotency_key: once, amount_minor: '12.50' })
  expect(leadsTo(again)).toMatch(/^\/payments\//)
  const { payments } = (await (await buyer.api('GET', '/v1/payments')).json()) as { payments: { purpose: string }[] }
  expect(payments.filter(({ purpose }) => purpose === 'top_up')).toHaveLength(1)
  const page = await buyer.get(leadsTo(again))
  expect(page.text).toContain('https://stripe.example/pay/')
  // Of the orders before and now, and of one top-up.
  expect([...requested].filter((key) => key.startsWith('/v1/checkout/sessions payment-'))).toHaveLength(3)
})

it('sellers complete the provider’s form through a link, too', async () => {
  up = false
  const failed = await seller.submit('/earnings', '/earnings/destination', {})
  expect([failed.status, failed.text.includes('Submit the form again in a moment')]).toEqual([503, true])
  up = true
  const begun = await seller.submit('/earnings', '/earnings/destination', {})
  expect(begun.status).toBe(200)
  expect(begun.text).toContain('href="https://stripe.example/onboarding"')
  expect((await seller.get('/earnings')).text).toContain('Set up payouts')
})
