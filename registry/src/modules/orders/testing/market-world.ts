import { randomUUID } from 'node:crypto'
import type { TestServices } from '@agentgym/testkit/services'
import { expect } from 'vitest'
import type { Actor } from '../../../core/access/authorize.ts'
import { useLicense } from '../../entitlements/entitlements.ts'
import { openAccounts } from '../../ledger/accounts.ts'
import { applyTransfers } from '../../ledger/apply-transfers.ts'
import { takeBack } from '../debts.ts'
import type { Placed } from '../place-order.ts'
import { refundOrder } from '../refunds.ts'
import { reverseForChargeback } from '../reverse-sale.ts'
import { holdForRun, settleRunOrder } from '../run-order.ts'
import { MarketModel, type ModelPackage, totalOf } from './market-model.ts'
import {
  buy,
  codeOf,
  createTrader,
  fund,
  holdings,
  insertRun,
  type Listed,
  listPackage,
  setListPrice,
} from './marketplace.ts'

export const traderCount = 4
/** Two agents and a scenario that is paid for by the run, of each trader. */
export const packageCount = 3 * traderCount

/** Traders, packages and orders by their place in the lists; an order's place is counted round. */
export type Step =
  | { do: 'topUp' | 'payOut'; trader: number; amount: number }
  | { do: 'buy'; trader: number; listed: number; provider: boolean; stale: boolean }
  | { do: 'crowd'; trader: number; listed: number[] }
  | { do: 'repeat'; back: number }
  | { do: 'refund'; order: number; by: 'seller' | 'buyer' | 'stranger'; amount: number | undefined }
  | { do: 'use'; order: number }
  | { do: 'price'; listed: number; amount: number }
  | { do: 'run'; trader: number; listed: number }
  | { do: 'settle'; order: number; outcome: 'post' | 'void' }
  | { do: 'chargeBack'; order: number }

type RealOrder = { id: string; runId: string | null }

/** A few traders of their own, who trade for real and in the model. */
export async function openMarketWorld(services: TestServices) {
  const { database } = services
  const traders: Actor[] = []
  for (let index = 0; index < traderCount; index++) traders.push(await createTrader(database))
  const stranger = await createTrader(database, 'stranger')
  const { packages, listed } = await listAll(services, traders)
  const model = new MarketModel(traderCount, packages, services.config.market.feeBasisPoints)
  return new MarketWorld(services, model, { traders, stranger, listed })
}

async function listAll({ database }: TestServices, traders: Actor[]) {
  const packages: ModelPackage[] = []
  const listed: Listed[] = []
  for (const [owner, { accountId, username }] of traders.entries()) {
    const own = { ownerId: accountId, owner: username }
    const author = (owner + 1) % traderCount
    const { accountId: authorId, username: authorName } = traders[author]
    const scenario = await listPackage(database, { ownerId: authorId, owner: authorName, royaltyBasisPoints: 1_111 })
    for (const price of [777, 1_500]) {
      listed.push(
        await listPackage(database, {
          ...own,
          kind: 'agent',
          scenario,
          price: { kind: 'one_time', amountMinor: price },
        }),
      )
      packages.push({ owner, author, royalty: 1_111, price, perRun: false })
    }
    listed.push(await listPackage(database, { ...own, price: { kind: 'per_run', amountMinor: 300 } }))
    packages.push({ owner, author: null, royalty: 0, price: 300, perRun: true })
  }
  return { packages, listed }
}

class MarketWorld {
  operations = 0
  readonly #services: TestServices
  readonly #model: MarketModel
  readonly #people: { traders: Actor[]; stranger: Actor; listed: Listed[] }
  readonly #orders: RealOrder[] = []
  readonly #requested: { again: () => Promise<Placed>; answer: Placed }[] = []

  constructor(
    services: TestServices,
    model: MarketModel,
    people: { traders: Actor[]; stranger: Actor; listed: Listed[] },
  ) {
    this.#services = services
    this.#model = model
    this.#people = people
  }

  async take(step: Step): Promise<void> {
    this.operations += step.do === 'crowd' ? step.listed.length : 1
    switch (step.do) {
      case 'topUp':
        await fund(this.#services.database, this.#people.traders[step.trader].accountId, step.amount)
        return this.#model.topUp(step.trader, step.amount)
      case 'payOut':
        return this.#payOut(step)
      case 'buy':
        return this.#buy(step)
      case 'crowd':
        return this.#crowd(step)
      case 'repeat': {
        const requested = this.#requested.at(-1 - step.back)
        if (requested !== undefined) expect(await requested.again()).toEqual(requested.answer)
        return
      }
      case 'price': {
        if (this.#model.packages[step.listed].perRun) return
        await setListPrice(this.#services.database, this.#people.listed[step.listed], {
          kind: 'one_time',
          amountMinor: step.amount,
        })
        this.#model.packages[step.listed].price = step.amount
        return
      }
      case 'run':
        return this.#run(step)
      default:
        if (this.#orders.length > 0) return this.#changeOrder(step, step.order % this.#orders.length)
    }
  }

  async #changeOrder(step: Extract<Step, { order: number }>, index: number): Promise<void> {
    const { id, runId } = this.#orders[index]
    const order = this.#model.orders[index]
    const { database } = this.#services
    if (step.do === 'use') {
      const isFirst = await useLicense(database.query, id)
      expect(isFirst).toBe(runId === null && order.state === 'paid' && !order.used)
      if (isFirst) order.used = true
    } else if (step.do === 'settle') {
      if (runId !== null) await database.transaction((query) => settleRunOrder(query, runId, step.outcome))
      this.#model.settle(index, step.outcome)
    } else if (step.do === 'chargeBack') {
      if (order.state === 'held') return
      const amountMinor = BigInt(totalOf(order))
      const [paymentId, accountId] = [randomUUID(), this.#people.traders[order.buyer].accountId]
      await database.transaction(async (query) => {
        await reverseForChargeback(query, id, { paymentId, reason: 'disputed' })
        await takeBack(query, { accountId, amountMinor, currency: 'USD', reference: paymentId })
      })
      this.#model.chargeBack(index)
    } else {
      const actor = {
        ...this.#people,
        seller: this.#people.traders[order.seller],
        buyer: this.#people.traders[order.buyer],
      }[step.by]
      const request = { amount_minor: step.amount, reason: 'asked' }
      const given = refundOrder(this.#services, { actor, id, request, idempotencyKey: randomUUID(), ip: null })
      expect(await codeOf(given), JSON.stringify(step)).toBe(this.#model.refund(index, step.by, step.amount))
    }
  }

  async #buy({ trader, listed, provider, stale }: Extract<Step, { do: 'buy' }>): Promise<void> {
    const shown = this.#model.packages[listed].price + (stale ? 1 : 0)
    const key = randomUUID()
    const again = () =>
      buy(this.#services, this.#people.traders[trader], this.#people.listed[listed], {
        ...{ key, expected_price: { amount_minor: shown }, pay_with: provider ? 'provider' : 'balance' },
      })
    const placed = await outcomeOf(again())
    const expected = this.#model.buy(trader, listed, { shown, provider })
    expect(placed.outcome).toBe(expected)
    if (placed.answer === null) return
    if (expected === 'done') this.#orders.push({ id: placed.answer.order.id, runId: null })
    else expect(placed.answer.order.id).toBe(this.#orders[this.#model.license(trader, listed)].id)
    if (!provider) this.#requested.push({ again, answer: placed.answer })
  }

  /**
   * Concurrent purchases of one buyer. Their order is unknown, so the model applies those that succeeded; refused ones
   * must lack the money at the end.
   */
  async #crowd({ trader, listed }: Extract<Step, { do: 'crowd' }>): Promise<void> {
    const actor = this.#people.traders[trader]
    const all = await Promise.all(listed.map((one) => outcomeOf(buy(this.#services, actor, this.#people.listed[one]))))
    const { balance = 0 } = await holdings(this.#services.database, actor.accountId)
    for (const [index, { outcome, answer }] of all.entries()) {
      const { price } = this.#model.packages[listed[index]]
      if (outcome === 'insufficient_funds') expect(balance).toBeLessThan(price)
      else {
        expect(this.#model.buy(trader, listed[index], { shown: price, provider: false })).toBe(outcome)
        if (outcome === 'done') this.#orders.push({ id: answer?.order.id ?? '', runId: null })
      }
    }
    await this.#adopt()
  }

  async #run({ trader, listed }: Extract<Step, { do: 'run' }>): Promise<void> {
    const { name, versions } = this.#people.listed[listed]
    if (!this.#model.packages[listed].perRun) return
    const { database, config } = this.#services
    const actor = this.#people.traders[trader]
    let runId = ''
    const held = database.transaction(async (query) => {
      runId = await insertRun(query, actor, versions['1.0.0'])
      const buyer = { id: actor.accountId, username: actor.username }
      return holdForRun(query, config, { actor, buyer, runId, name, version: '1.0.0', ip: null })
    })
    const outcome = await codeOf(held)
    const id = outcome === 'done' ? await held : null
    expect(id === null && outcome === 'done' ? 'nothing' : outcome).toBe(this.#model.holdForRun(trader, listed))
    if (id !== null) this.#orders.push({ id, runId })
  }

  async #payOut({ trader, amount }: { trader: number; amount: number }): Promise<void> {
    const paid = await this.#services.database.transaction(async (query) => {
      const [earnings, provider] = await openAccounts(query, [
        { owner: this.#people.traders[trader].accountId, code: 'earnings', currency: 'USD' },
        { owner: null, code: 'provider', currency: 'USD' },
      ])
      const money = { amountMinor: BigInt(amount), currency: 'USD', code: 'payout', kind: 'posted' as const }
      return applyTransfers(query, [
        { ...money, id: randomUUID(), debitAccountId: earnings, creditAccountId: provider },
      ])
    })
    expect(paid[0].outcome === 'created').toBe(this.#model.payOut(trader, amount))
  }

  /** All balances match the model. */
  async compare(): Promise<void> {
    for (const [index, { accountId }] of this.#people.traders.entries()) {
      const { balance = 0, earnings = 0, debt = 0 } = await holdings(this.#services.database, accountId)
      expect({ balance, earnings, debt: 0 - debt }).toEqual(this.#model.traders[index])
    }
  }

  /** What was owed is paid sooner or later in a crowd; what each has in all is not left to that. */
  async #adopt(): Promise<void> {
    for (const [index, { accountId }] of this.#people.traders.entries()) {
      const { balance = 0, earnings = 0, debt = 0 } = await holdings(this.#services.database, accountId)
      expect(balance + earnings + debt).toBe(this.#model.worth(index))
      this.#model.traders[index] = { balance, earnings, debt: 0 - debt }
    }
  }
}

async function outcomeOf(placing: Promise<Placed>): Promise<{ outcome: string; answer: Placed | null }> {
  const outcome = await codeOf(placing)
  if (outcome !== 'done') return { outcome, answer: null }
  const answer = await placing
  return { outcome: answer.status === 200 ? 'existing' : 'done', answer }
}
