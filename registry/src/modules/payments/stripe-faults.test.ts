import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

describeOnEngines('Stripe that does not answer as it should on $kind', ({ open }) => {
  let market: StripeMarket
  let buyer: Trader

  beforeAll(async () => {
    market = await openStripeMarket(await open())
    buyer = await market.trader()
  })
  afterAll(() => market.close())

  const topUp = (json: Record<string, unknown>, key = randomUUID()) =>
    market.server.call('POST', '/v1/top-ups', buyer.token, { json, key })
  const create = 'POST /v1/checkout/sessions'

  it.each(['lost_request', 'lost_answer', 'fails'] as const)(
    '%s: one failure is retried, more are 503, and a repeated request acts once',
    async (fault) => {
      const { books } = market.stripe
      const before = books.all('checkout.session').length
      market.stripe.fault(create, fault)
      expect(await topUp({ amount_minor: 5_000 })).toMatchObject({ status: 201 })
      expect(books.all('checkout.session')).toHaveLength(before + 1)
      const key = randomUUID()
      for (const _ of [1, 2]) market.stripe.fault(create, fault)
      expect(await topUp({ amount_minor: 5_000 }, key)).toMatchObject({
        status: 503,
        code: 'payment_provider_unavailable',
      })
      const again = await topUp({ amount_minor: 5_000 }, key)
      expect(again).toMatchObject({ status: 201, body: { state: 'pending', checkout_url: expect.any(String) } })
      expect((await topUp({ amount_minor: 5_000 }, key)).body).toEqual(again.body)
      expect(books.all('checkout.session')).toHaveLength(before + 2)
    },
  )

  it('a refusal by Stripe is declined with its message, also when repeated', async () => {
    const key = randomUUID()
    for (const _ of [1, 2])
      expect(await topUp({ amount_minor: 10 }, key)).toMatchObject({
        ...{ status: 402, code: 'payment_declined' },
        body: { error: { message: expect.stringContaining('at least $0.50') } },
      })
  })

  it('options of the test provider are refused with real money', async () => {
    expect(await topUp({ amount_minor: 500, test_outcome: 'succeeds' })).toMatchObject({ code: 'request_invalid' })
    expect((await fetch(`${market.server.url}/test-checkout`)).status).toBe(404)
  })
})
