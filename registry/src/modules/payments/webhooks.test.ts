import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askPayments } from './payments.tasks.ts'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

const minuteMs = 60_000

describeOnEngines('webhooks of Stripe on $kind', ({ open }) => {
  let market: StripeMarket
  let buyer: Trader

  beforeAll(async () => {
    market = await openStripeMarket(await open())
  })
  afterAll(async () => {
    await market.audit()
    await market.close()
  })

  const fresh = async (amountMinor = 5_000) => {
    buyer = await market.trader()
    return market.ask(buyer, amountMinor)
  }
  const stateOf = (id: string) => market.stateOf(buyer, `/v1/payments/${id}`)

  it('a top-up is credited once Stripe confirms it', async () => {
    const { id, session } = await fresh()
    expect(await buyer.balance()).toBe(0)
    expect(await stateOf(id)).toBe('pending')
    expect(await market.tell(market.stripe.books.pay(session))).toBe(200)
    expect(await buyer.balance()).toBe(5_000)
    expect(await stateOf(id)).toBe('succeeded')
  })

  it('replayed sequentially and concurrently: credited once', async () => {
    const { session } = await fresh()
    const event = market.stripe.books.pay(session)
    const statuses = await Promise.all(Array.from({ length: 15 }, () => market.tell(event)))
    statuses.push(await market.tell(event), await market.tell({ ...event, id: `evt_${randomUUID()}` }))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await buyer.balance()).toBe(5_000)
  })

  it('forged, altered, unsigned, stale or not JSON: refused without effect', async () => {
    const { id, session } = await fresh()
    const event = market.stripe.books.pay(session)
    const stale = { at: new Date(Date.now() - 5.2 * minuteMs) }
    const raised = { alter: (body: string) => body.replace('5000', '9000') }
    const spaced = { alter: (body: string) => body.replaceAll('\n', '') }
    for (const delivery of [{ secret: 'whsec_of_somebody_else' }, stale, raised, spaced])
      expect(await market.tell(event, delivery)).toBe(400)
    const send = (headers: Record<string, string>, body: string) =>
      fetch(`${market.server.url}/v1/webhooks/stripe`, { method: 'POST', headers, body })
    for (const signature of ['', 't=1,v1=', 'v1=abc', 'nonsense', `t=${Date.now()},v1=${'0'.repeat(64)}`]) {
      const answer = await send({ 'stripe-signature': signature }, JSON.stringify(event))
      expect(await answer.json()).toMatchObject({ error: { code: 'webhook_signature_invalid' } })
      expect(answer.status).toBe(400)
    }
    expect((await send({}, '')).status).toBe(400)
    expect(await market.tell(event, { alter: () => 'no JSON' })).toBe(400)
    expect(await stateOf(id)).toBe('pending')
    // One that is a little late is taken.
    expect(await market.tell(event, { at: new Date(Date.now() - 4 * minuteMs) })).toBe(200)
    expect(await buyer.balance()).toBe(5_000)
  })

  it('about unknown objects: accepted without effect', async () => {
    const { books } = market.stripe
    const strange = [
      books.event('invoice.paid', { id: 'in_1', object: 'invoice' }),
      books.event('checkout.session.completed', {
        ...{ id: 'cs_1', object: 'checkout.session', payment_status: 'paid', metadata: { payment_id: randomUUID() } },
        ...{ amount_total: 5_000, currency: 'usd' },
      }),
      books.event('checkout.session.completed', {
        ...{ id: 'cs_2', object: 'checkout.session', payment_status: 'paid', metadata: { payment_id: "'; drop" } },
      }),
      books.event('checkout.session.expired', { id: 'cs_3', object: 'checkout.session', metadata: null }),
      books.event('transfer.reversed', {
        ...{ id: 'tr_1', object: 'transfer', amount_reversed: 5, metadata: { payout_id: randomUUID() } },
      }),
      books.event('account.updated', { id: 'acct_1', object: 'account' }),
    ]
    for (const event of strange) expect(await market.tell(event)).toBe(200)
  })

  it('with another amount or currency: not credited, and logged for the operator', async () => {
    const { id, session } = await fresh()
    const event = market.stripe.books.pay(session)
    const object = event.data.object
    for (const wrong of [{ amount_total: 4_999 }, { currency: 'jpy' }, { amount_total: 5_001 }])
      expect(await market.tell({ ...event, id: randomUUID(), data: { object: { ...object, ...wrong } } })).toBe(200)
    expect(await buyer.balance()).toBe(0)
    expect(await stateOf(id)).toBe('pending')
    expect(market.server.services.logged).toContainEqual(
      expect.objectContaining({ level: 'error', data: expect.objectContaining({ payment_id: id, paid_minor: 4_999 }) }),
    )
  })

  it('a slow bank payment: credited when it arrives', async () => {
    const { books } = market.stripe
    const first = await fresh()
    await market.tell(books.pay(first.session, { later: true }))
    expect(await stateOf(first.id)).toBe('pending')
    await market.tell(books.bankPays(first.session))
    expect(await buyer.balance()).toBe(5_000)
    const second = await fresh()
    await market.tell(books.pay(second.session, { later: true }))
    await market.tell(books.bankRefuses(second.session))
    expect(await stateOf(second.id)).toBe('failed')
    expect(await buyer.balance()).toBe(0)
  })

  it('a payment after expiry or failure is credited', async () => {
    const { books } = market.stripe
    const { id, session } = await fresh()
    await market.tell(books.expire(session))
    expect(await stateOf(id)).toBe('expired')
    await market.tell(books.pay(session))
    expect(await stateOf(id)).toBe('succeeded')
    await market.tell(books.expire(session))
    await market.tell(books.bankRefuses(session))
    expect(await stateOf(id)).toBe('succeeded')
    expect(await buyer.balance()).toBe(5_000)
  })

  it('a dispute debits the money; a won dispute restores it', async () => {
    const { books } = market.stripe
    const { id, session } = await fresh()
    await market.tell(books.pay(session))
    const inquiry = books.dispute(session, { status: 'warning_needs_response' })
    await market.tell(inquiry.created)
    expect(await buyer.balance()).toBe(5_000)
    const { created, withdrawn, reinstated } = books.dispute(session)
    await market.tell(created)
    await market.tell(withdrawn)
    expect(await stateOf(id)).toBe('disputed')
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: 0 })
    await market.tell(reinstated)
    expect(await stateOf(id)).toBe('succeeded')
    expect(await buyer.balance()).toBe(5_000)
  })

  it('partial refunds at Stripe are applied cumulatively, up to the payment', async () => {
    const { books } = market.stripe
    const { id, session } = await fresh()
    await market.tell(books.pay(session))
    const parts = [books.refund(session, 1_000), books.refund(session, 2_500)]
    for (const part of parts.toReversed()) await market.tell(part)
    expect(await buyer.balance()).toBe(2_500)
    await market.tell(books.dispute(session, { amount: 5_000 }).withdrawn)
    expect(await buyer.has()).toMatchObject({ balance: 0, debt: 0 })
    expect(await stateOf(id)).toBe('disputed')
  })

  it('a missing webhook is replaced by polling', async () => {
    const { id, session } = await fresh()
    market.stripe.books.pay(session)
    await askPayments(market.server.services, { olderThanMs: 0 })
    expect(await stateOf(id)).toBe('succeeded')
    const other = await fresh()
    market.stripe.books.expire(other.session)
    await askPayments(market.server.services, { olderThanMs: 0 })
    expect(await stateOf(other.id)).toBe('expired')
  })

  it('any order and number of events give the same result', async () => {
    const { books } = market.stripe
    const cases = fc.record({
      won: fc.boolean(),
      order: fc.array(fc.nat(5), { minLength: 6, maxLength: 14 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ won, order }) => {
        const { id, session } = await fresh(1_000)
        const paid = books.pay(session)
        const { created, withdrawn, reinstated } = books.dispute(session)
        const all = [paid, created, withdrawn, books.event('checkout.session.expired', paid.data.object)]
        if (won) all.push(reinstated)
        // As it comes, and then once more each, in the order in which they are listed last.
        for (const index of order) await market.tell(all[index % all.length])
        for (const event of all) await market.tell(event)
        expect(await stateOf(id)).toBe(won ? 'succeeded' : 'disputed')
        expect(await buyer.has()).toMatchObject({ balance: won ? 1_000 : 0 })
        expect((await buyer.has()).debt ?? 0).toBe(0)
      }),
      { numRuns: isLong ? 100 : 5 },
    )
    await market.audit()
  }, 600_000)
})
