import { describeOnEngines } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Listed, listPackage } from '../orders/testing/marketplace.ts'
import { openStripeMarket, type StripeMarket, type Trader } from './testing/payments-server.ts'

type Entry = {
  kind: string
  package: string | null
  gross_minor: number
  fee_minor: number
  royalty_minor: number
  net_minor: number
}
type Figures = Record<string, number>

/** Cells of CSV that has no line breaks within cells. */
const cellsOf = (line: string) =>
  [...line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)/g)].map(([, quoted, plain]) => quoted ?? plain)

describeOnEngines('earnings on $kind', ({ open }) => {
  let market: StripeMarket
  let author: Trader
  let seller: Trader
  let agent: Listed
  let account: string

  beforeAll(async () => {
    market = await openStripeMarket(await open(), { payoutHoldDays: 0 })
  })
  afterAll(async () => {
    await market.audit()
    await market.close()
  })

  /** An agent for 20.00, of which 2.00 are the platform's and 3.00 the author's of the scenario it was trained on. */
  const openShop = async () => {
    author = await market.trader()
    seller = await market.trader()
    const { accountId: ownerId, username: owner } = author.actor
    const scenario = await listPackage(market.database, { ownerId, owner, royaltyBasisPoints: 1_500 })
    agent = await listPackage(market.database, {
      ...{ ownerId: seller.actor.accountId, owner: seller.actor.username, kind: 'agent', scenario },
      price: { kind: 'one_time', amountMinor: 2_000 },
    })
    await market.server.call('PUT', '/v1/payout-destination', seller.token, { json: {} })
    account = String(market.stripe.books.all('account').at(-1)?.id)
    await market.tell(market.stripe.books.completeOnboarding(account, `bank-${account}`))
  }
  const sell = async () => {
    const buyer = await market.trader()
    const { session } = await market.paid(buyer, 2_000)
    const { id } = await market.buy(buyer, agent, 'balance')
    return { buyer, session, order: id }
  }
  const refund = (order: string, amount_minor: number) =>
    market.server.call('POST', `/v1/orders/${order}/refunds`, seller.token, { json: { amount_minor, reason: 'asked' } })
  const payOut = (json: Record<string, unknown> = {}) =>
    market.server.call('POST', '/v1/payouts', seller.token, { json })
  const figures = async (of: Trader) => (await market.server.call('GET', '/v1/earnings', of.token)).body as Figures
  const entries = async (of: Trader, limit = 100) => {
    const all: Entry[] = []
    for (let cursor = ''; ; ) {
      const { body } = await market.server.call('GET', `/v1/earnings/entries?limit=${limit}${cursor}`, of.token)
      all.push(...(body.entries as Entry[]))
      if (body.next_cursor === null) return all
      cursor = `&cursor=${body.next_cursor}`
    }
  }
  const csv = async (of: Trader) => (await market.server.call('GET', '/v1/earnings.csv', of.token)).text

  /** The lists must match the ledger. */
  const expectConsistent = async (of: Trader) => {
    const { earnings = 0, debt = 0 } = await of.has()
    const sums = await figures(of)
    const listed = await entries(of, 3)
    const net = listed.reduce((sum, { net_minor }) => sum + net_minor, 0)
    expect(net).toBe(earnings + debt)
    for (const { gross_minor, fee_minor, royalty_minor, net_minor, kind } of listed)
      if (!['payout', 'payout_returned', 'debt_repaid'].includes(kind))
        expect(net_minor).toBe(gross_minor + fee_minor + royalty_minor)
    expect(sums.debt_minor).toBe(0 - debt)
    expect(sums.balance_minor - sums.debt_minor).toBe(
      sums.sales_minor +
        sums.royalties_earned_minor -
        sums.fees_minor -
        sums.royalties_paid_minor -
        sums.refunds_minor -
        sums.paid_out_minor,
    )
    const lines = (await csv(of)).split('\r\n').slice(1, -1).map(cellsOf)
    expect(lines).toHaveLength(listed.length)
    expect(lines.reduce((sum, cells) => sum + Math.round(Number(cells[7]) * 100), 0)).toBe(net)
  }

  it('contain sales, fees, royalties, refunds and payouts', async () => {
    await openShop()
    const sales = [await sell(), await sell(), await sell()]
    expect(await figures(seller)).toMatchObject({
      ...{ sales_minor: 6_000, fees_minor: 600, royalties_paid_minor: 900, royalties_earned_minor: 0 },
      ...{ refunds_minor: 0, paid_out_minor: 0, balance_minor: 4_500, cleared_minor: 4_500, debt_minor: 0 },
    })
    expect(await figures(author)).toMatchObject({ sales_minor: 0, royalties_earned_minor: 900, balance_minor: 900 })
    expect((await refund(sales[0].order, 1_000)).status).toBe(200)
    expect(await payOut({ amount_minor: 3_000 })).toMatchObject({ body: { state: 'paid' } })
    await market.tell(market.stripe.books.dispute(sales[1].session).withdrawn)
    expect(await figures(seller)).toMatchObject({
      ...{ sales_minor: 6_000, fees_minor: 300, royalties_paid_minor: 450, refunds_minor: 3_000 },
      ...{ paid_out_minor: 3_000, balance_minor: 0, cleared_minor: 0, debt_minor: 750 },
    })
    expect((await entries(seller)).map(({ kind, net_minor }) => [kind, net_minor])).toEqual([
      ['chargeback', -1_500],
      ['payout', -3_000],
      ['refund', -750],
      ...sales.map(() => ['sale', 1_500]),
    ])
    expect((await entries(author)).map(({ kind, net_minor }) => [kind, net_minor])).toEqual([
      ['chargeback', -300],
      ['refund', -150],
      ...sales.map(() => ['royalty', 300]),
    ])
    for (const trader of [seller, author]) await expectConsistent(trader)
  })

  it('recover a chargeback debt from the next sale before any payout', async () => {
    await openShop()
    const first = await sell()
    await payOut()
    await market.tell(market.stripe.books.dispute(first.session).withdrawn)
    expect(await seller.has()).toMatchObject({ earnings: 0, debt: -1_500 })
    expect(await payOut()).toMatchObject({ code: 'payout_below_cleared' })
    await sell()
    expect(await seller.has()).toMatchObject({ earnings: 0, debt: 0 })
    await sell()
    expect(await payOut()).toMatchObject({ body: { state: 'paid', amount_minor: 1_500 } })
    await expectConsistent(seller)
  })

  it('can be paid out again after a returned payout', async () => {
    await openShop()
    await sell()
    await payOut()
    const transfer = market.stripe.books.all('transfer').find(({ destination }) => destination === account)
    await market.tell(market.stripe.books.reverse(String(transfer?.id), 1_500))
    await expectConsistent(seller)
    const entry = (await entries(seller)).find(({ kind }) => kind === 'payout_returned')
    expect(entry).toMatchObject({ net_minor: 1_500 })
    expect(await entries(seller, 1)).toHaveLength(3)
    expect(await payOut()).toMatchObject({ body: { state: 'paid', amount_minor: 1_500 } })
    await expectConsistent(seller)
  })

  it('as CSV contain no spreadsheet formulas', async () => {
    await openShop()
    await sell()
    const answer = await csv(seller)
    const [header, line, end] = answer.split('\r\n')
    expect(header).toBe('at,kind,package,order,gross,fee,royalty,net,currency')
    expect(cellsOf(line).slice(1, 9)).toEqual([
      ...['sale', `'${agent.name}`, expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ...['20.00', '-2.00', '-3.00', '15.00', 'USD'],
    ])
    expect(end).toBe('')
    for (const cell of cellsOf(line).slice(0, 9)) expect(cell).toMatch(/^(?:['\w]|-?\d+\.\d\d$)/)
  })

  it('match the ledger for any sequence of operations', async () => {
    const operations = fc.array(
      fc.record({
        kind: fc.constantFrom('sell', 'refund', 'dispute', 'win', 'pay_out', 'return'),
        which: fc.nat(5),
        part: fc.integer({ min: 1, max: 2_000 }),
      }),
      { minLength: 5, maxLength: 14 },
    )
    await fc.assert(
      fc.asyncProperty(operations, async (wanted) => {
        await openShop()
        const sold = [await sell()]
        const disputes: ReturnType<typeof market.stripe.books.dispute>[] = []
        for (const { kind, which, part } of wanted) {
          const sale = sold[which % sold.length]
          const made = market.stripe.books.all('transfer').filter(({ destination }) => destination === account)
          if (kind === 'sell') sold.push(await sell())
          else if (kind === 'refund') await refund(sale.order, part)
          else if (kind === 'dispute') {
            disputes.push(market.stripe.books.dispute(sale.session))
            await market.tell(disputes.at(-1)?.withdrawn)
          } else if (kind === 'win' && disputes.length > 0)
            await market.tell(disputes[which % disputes.length].reinstated)
          else if (kind === 'pay_out') await payOut(which > 2 ? { amount_minor: part } : {})
          else if (kind === 'return' && made.length > 0)
            await market.tell(market.stripe.books.reverse(made[which % made.length].id, part))
        }
        for (const trader of [seller, author]) await expectConsistent(trader)
      }),
      { numRuns: isLong ? 50 : 3 },
    )
    await market.audit()
  }, 1_800_000)
})

describeOnEngines('the hold of earnings on $kind', ({ open }) => {
  it('clears earnings after the hold, and a refund within it does not clear older ones', async () => {
    // A few seconds, in days.
    const market = await openStripeMarket(await open(), { payoutHoldDays: 8 / 86_400 })
    const [seller, buyer] = [await market.trader(), await market.trader()]
    const [old, young] = [await market.listing(seller, 1_000), await market.listing(seller, 1_000)]
    const figures = async () => (await market.server.call('GET', '/v1/earnings', seller.token)).body
    await market.paid(buyer, 2_000)
    await market.buy(buyer, old, 'balance')
    expect(await figures()).toMatchObject({ balance_minor: 900, cleared_minor: 0, held_minor: 900 })
    await expect.poll(figures, { timeout: 60_000 }).toMatchObject({ cleared_minor: 900, held_minor: 0 })
    const { id } = await market.buy(buyer, young, 'balance')
    expect(await figures()).toMatchObject({ balance_minor: 1_800, cleared_minor: 900, held_minor: 900 })
    const json = { reason: 'as asked' }
    await market.server.call('POST', `/v1/orders/${id}/refunds`, seller.token, { json })
    expect(await figures()).toMatchObject({ balance_minor: 900, cleared_minor: 900, held_minor: 0 })
    await market.audit()
    await market.close()
  })
})
