import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../orders/testing/marketplace.ts'
import { sendPayouts } from './payments.tasks.ts'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

const create = 'POST /v1/transfers'

describeOnEngines('payouts through Stripe on $kind', ({ open }) => {
  let market: StripeMarket
  let seller: Trader

  beforeAll(async () => {
    market = await openStripeMarket(await open(), { payoutHoldDays: 0 })
  })
  afterEach(async () => {
    await market.audit()
    market.stripe.books.state.balanceMinor = Number.POSITIVE_INFINITY
  })
  afterAll(() => market.close())

  const call = (method: string, path: string, json?: unknown, key?: string) =>
    market.server.call(method, path, seller.token, { json, key })
  const payOut = (json: Record<string, unknown> = {}, key?: string) => call('POST', '/v1/payouts', json, key)
  const payouts = async () => (await call('GET', '/v1/payouts')).body.payouts
  const transfers = () => market.stripe.books.all('transfer').filter(({ destination }) => destination === account)
  let account = ''

  /** A seller who has earned 9.00 of 10.00, and has an account at Stripe. */
  const sellerWithEarnings = async () => {
    seller = await market.trader()
    const buyer = await market.trader()
    await market.paid(buyer, 1_000)
    await market.buy(buyer, await market.listing(seller, 1_000), 'balance')
    expect((await call('PUT', '/v1/payout-destination', {})).body).toMatchObject({ ready: false })
    account = String(market.stripe.books.all('account').at(-1)?.id)
    await market.tell(market.stripe.books.completeOnboarding(account, `bank-${account}`))
  }

  it('a destination is ready once its form is complete; no payouts before', async () => {
    seller = await market.trader()
    expect((await call('GET', '/v1/payout-destination')).body).toEqual({
      ...{ account: seller.actor.username, provider: 'stripe', ready: false, onboarding_url: null },
    })
    expect(await payOut()).toMatchObject({ status: 409, code: 'payout_not_ready' })
    const opened = await Promise.all([1, 2, 3].map(() => call('PUT', '/v1/payout-destination', {})))
    for (const { status, body } of opened) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ ready: false, onboarding_url: expect.stringMatching(/connect/) })
    }
    expect(await payOut()).toMatchObject({ status: 409, code: 'payout_not_ready' })
    const made = market.stripe.books.all('account').at(-1)
    // The events of the account may come in any order: what counts is how it is.
    await market.tell(market.stripe.books.completeOnboarding(String(made?.id), 'bank-1'))
    expect((await call('GET', '/v1/payout-destination')).body).toMatchObject({ ready: true })
    expect(await payOut()).toMatchObject({ status: 409, code: 'payout_below_cleared' })
  })

  it('of concurrent requests for the form, each gets it, and one account at Stripe is kept', async () => {
    for (const _ of [1, 2, 3, 4, 5]) {
      seller = await market.trader()
      const opened = await Promise.all([1, 2, 3, 4, 5, 6].map(() => call('PUT', '/v1/payout-destination', {})))
      expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200))
      expect(new Set(opened.map(({ body }) => body.onboarding_url)).size).toBe(1)
    }
  })

  it('an account with the seller’s bank account counts as the seller', async () => {
    await sellerWithEarnings()
    const listed = await market.listing(seller, 1_000)
    const other = await market.trader()
    await market.server.call('PUT', '/v1/payout-destination', other.token, { json: {} })
    const theirs = String(market.stripe.books.all('account').at(-1)?.id)
    await market.paid(other, 2_000)
    const buy = () => market.server.call('POST', '/v1/orders', other.token, { json: { package: listed.name } })
    await market.tell(market.stripe.books.completeOnboarding(theirs, `bank-${account}`))
    expect(await buy()).toMatchObject({ status: 409, code: 'self_purchase' })
    await market.tell(market.stripe.books.completeOnboarding(theirs, 'bank of their own'))
    expect(await buy()).toMatchObject({ status: 201 })
  })

  it('pays cleared earnings, once per key', async () => {
    await sellerWithEarnings()
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 10 }, () => payOut({ amount_minor: 500 }, key)))
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 201, body: { id: answers[0].body.id, amount_minor: 500 } })
    expect(await payouts()).toMatchObject([{ state: 'paid', amount_minor: 500, message: null }])
    expect(transfers()).toMatchObject([{ amount: 500 }])
    expect(await payOut({ amount_minor: 401 })).toMatchObject({ status: 409, code: 'payout_below_cleared' })
    expect(await payOut()).toMatchObject({ status: 201, body: { state: 'paid', amount_minor: 400 } })
    expect(await payOut()).toMatchObject({ status: 409, code: 'payout_below_cleared' })
    expect(await seller.has()).toMatchObject({ earnings: 0 })
  })

  it('of twenty concurrent payouts of everything, one is paid', async () => {
    await sellerWithEarnings()
    const answers = await Promise.all(Array.from({ length: 20 }, () => payOut({ amount_minor: 900 })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'payout_below_cleared')).toHaveLength(19)
    expect(transfers()).toHaveLength(1)
  })

  it('a payout refused by Stripe fails and returns the earnings', async () => {
    await sellerWithEarnings()
    const { books } = market.stripe
    Object.assign(books.get(account), { capabilities: { transfers: 'inactive' } })
    const answer = await payOut()
    expect(answer).toMatchObject({
      body: { state: 'failed', message: expect.stringContaining('transfers capability') },
    })
    expect(await seller.has()).toMatchObject({ earnings: 900 })
  })

  it('waits if the money has not reached Stripe yet', async () => {
    await sellerWithEarnings()
    market.stripe.books.state.balanceMinor = 899
    expect(await payOut()).toMatchObject({ status: 201, body: { state: 'pending' } })
    expect(await seller.has()).toMatchObject({ earnings: 0 })
    market.stripe.books.state.balanceMinor = 900
    await sendPayouts(market.server.services, { olderThanMs: 0 })
    expect(await payouts()).toMatchObject([{ state: 'paid' }])
    expect(transfers()).toMatchObject([{ amount: 900 }])
  })

  it.each(['lost_request', 'lost_answer', 'fails'] as const)(
    '%s: pending until the scheduled task retries, and paid once',
    async (fault) => {
      await sellerWithEarnings()
      for (const _ of [1, 2]) market.stripe.fault(create, fault)
      expect(await payOut()).toMatchObject({ status: 201, body: { state: 'pending' } })
      expect(await payOut()).toMatchObject({ code: 'payout_below_cleared' })
      await Promise.all([1, 2, 3].map(() => sendPayouts(market.server.services, { olderThanMs: 0 })))
      expect(await payouts()).toMatchObject([{ state: 'paid', amount_minor: 900 }])
      expect(transfers()).toHaveLength(1)
      expect(await seller.has()).toMatchObject({ earnings: 0 })
    },
  )

  it('a return restores the earnings, in parts or in full, even if reported before the payout', async () => {
    await sellerWithEarnings()
    for (const _ of [1, 2]) market.stripe.fault(create, 'lost_answer')
    await payOut()
    const [transfer] = transfers()
    const { books } = market.stripe
    const [part, whole] = [books.reverse(transfer.id, 300), books.reverse(transfer.id, 900)]
    for (const event of [part, part]) await market.tell(event)
    expect(await payouts()).toMatchObject([{ state: 'paid', message: expect.any(String) }])
    expect(await seller.has()).toMatchObject({ earnings: 300 })
    for (const event of [whole, part, whole]) await market.tell(event)
    expect(await payouts()).toMatchObject([{ state: 'failed' }])
    expect(await seller.has()).toMatchObject({ earnings: 900 })
    await sendPayouts(market.server.services, { olderThanMs: 0 })
    expect(await seller.has()).toMatchObject({ earnings: 900 })
  })

  it('is for admins of the account, with a token for selling', async () => {
    await sellerWithEarnings()
    const [admin, member, stranger] = await Promise.all([1, 2, 3].map(() => market.trader()))
    const { username } = await createOrganization(market.database, {
      [admin.actor.accountId]: 'admin',
      [member.actor.accountId]: 'member',
    })
    const query = `?account=${username}`
    const paths = [`/v1/payouts${query}`, `/v1/payout-destination${query}`, `/v1/earnings${query}`]
    for (const path of [...paths, `/v1/earnings/entries${query}`, `/v1/earnings.csv${query}`]) {
      expect(await market.server.call('GET', path, admin.token)).toMatchObject({ status: 200 })
      for (const { token } of [member, stranger, seller])
        expect(await market.server.call('GET', path, token)).toMatchObject({ status: 403, code: 'forbidden' })
      expect(await market.server.call('GET', path, null)).toMatchObject({ status: 401 })
      const buyer = await market.server.token(admin.actor, ['market:buy'])
      expect(await market.server.call('GET', path, buyer)).toMatchObject({ status: 403, code: 'forbidden' })
    }
    const json = { account: seller.actor.username }
    for (const { token } of [member, stranger])
      expect(await market.server.call('POST', '/v1/payouts', token, { json })).toMatchObject({ code: 'forbidden' })
    expect(await seller.has()).toMatchObject({ earnings: 900 })
  })
})
