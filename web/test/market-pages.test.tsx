import type { Offer, Order } from '@agentgym/contract'
import { openTestSite, type TestSite } from '@agentgym/testkit/site'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { route } from '../src/app/route.ts'
import { siteRoutes } from '../src/app/site-routes.ts'
import { CheckoutPage } from '../src/pages/market/checkout.tsx'
import { EarningsPage, type EarningsView } from '../src/pages/market/earnings.tsx'
import { OrderPage } from '../src/pages/market/order.tsx'

// What a server with play money does not get into: payments and accounts that wait for a provider, agents that were verified.
const id = '0c6a4c1e-7a53-4c35-9c1e-1234567890ab'
const at = '2026-06-15T12:00:00.000Z'
const hostile = '<img src=x onerror=alert(1)>'

const order: Order = {
  ...{
    id,
    state: 'awaiting_payment',
    package: '@acme/pole',
    kind: 'agent',
    version: '1.2.3',
    covers: '1.x',
    run: null,
  },
  ...{ price_kind: 'one_time', buyer: 'ada', placed_by: 'ada', seller: 'acme', total_minor: 2_500, refunded_minor: 0 },
  ...{ currency: 'USD', pay_with: 'provider', checkout_url: 'https://pay.example/session?a=1&b=2', refunds: [] },
  ...{ refundable: { by_buyer: false, why: 'It is awaiting payment.' }, created_at: at, paid_at: null, ended_at: null },
}
const price = { id, kind: 'one_time' as const, amount_minor: 2_500, currency: 'USD', effective_at: at, created_at: at }
const offer: Offer = {
  ...{ package: '@acme/pole', kind: 'agent', title: hostile, seller: 'acme', version: '1.2.3', covers: '1.x', price },
  ...{ upcoming: null, total_minor: 2_500, license: hostile, terms: hostile, trial_calls: 100, calls_price_minor: 150 },
  ...{ entitled: false, balance_minor: 4_000, test_money: false, page: 'http://localhost/packages/@acme/pole' },
  verification: { state: 'verified', return_mean: 487.25, command: 'agentgym agent verify @acme/pole@1.2.3' },
}
const sums = { sales_minor: 0, fees_minor: 0, royalties_earned_minor: 0, royalties_paid_minor: 0, refunds_minor: 0 }
const view: EarningsView = {
  earnings: {
    ...{
      account: 'ada',
      currency: 'USD',
      ...sums,
      paid_out_minor: 0,
      balance_minor: 0,
      cleared_minor: 0,
      held_minor: 0,
    },
    debt_minor: 0,
  },
  earned: { account: 'ada', currency: 'USD', days: [{ day: '2026-06-15', orders: 0, sales_minor: 0, net_minor: 0 }] },
  ...{ entries: [], next: null, payouts: [] },
  destination: { account: 'ada', provider: 'stripe', ready: false, onboarding_url: 'https://pay.example/onboarding' },
}
const unverified = { state: 'mismatch', return_mean: null, command: 'agentgym agent verify @acme/pole@1.2.3' }

let site: TestSite
beforeAll(async () => {
  const shown = (name: string, body: () => unknown) =>
    route('get', `/sample/${name}`, { access: 'account' }, (visit) => visit.page(body() as never, { title: name }))
  site = await openTestSite({
    routes: [
      ...siteRoutes,
      shown('awaiting', () => <OrderPage order={order} />),
      shown('unasked', () => <OrderPage order={{ ...order, checkout_url: null }} />),
      shown('reversed', () => <OrderPage order={{ ...order, state: 'charged_back', paid_at: at, ended_at: at }} />),
      shown('agent', () => <CheckoutPage offer={offer} range="" account="" />),
      shown('unverified', () => <CheckoutPage offer={{ ...offer, verification: unverified }} range="" account="" />),
      shown('onboarding', () => <EarningsPage account="" {...view} />),
    ],
  })
})
afterAll(() => site.close())

const open = async (name: string) => (await (await site.browserOf('ada')).get(`/sample/${name}`)).text

it('an unpaid order links to the provider, and can be canceled', async () => {
  const text = await open('awaiting')
  expect(text).toContain('<h1>Order</h1>')
  expect(text).toMatch(/<a class="button button-primary" href="https:\/\/pay\.example\/session\?a=1&amp;b=2"/)
  expect(text).toContain(`action="/orders/${id}/cancel"`)
  expect(text).not.toContain('agentgym install')
  expect(await open('unasked')).toContain('href="/buy/@acme/pole"')
})

it('the receipt shows a reversed payment', async () => {
  const text = await open('reversed')
  expect(text).toContain('charged back')
  expect(text).not.toContain('Return order')
})

it('shows the verification before payment, and escapes untrusted text', async () => {
  const text = await open('agent')
  expect(text).toContain('Verified: re-run by this marketplace on held-out seeds and signed')
  expect(text).toContain('>487<')
  expect(text).toContain('Hosted calls are billed separately: $1.50 per 1,000; the first 100 are free')
  expect(text).not.toContain('<img src=x')
  expect(await open('unverified')).toContain('Not verified (mismatch)')
})

it('the provider’s form for sellers is a link, too', async () => {
  const text = await open('onboarding')
  expect(text).toContain('href="https://pay.example/onboarding"')
  expect(text).toContain('action="/earnings/destination"')
  expect(text).toContain('No earnings yet')
})
