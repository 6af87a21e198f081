import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import type { Done, Spender, SpendingMarket } from './spending.ts'
import { type Currency, currencies, type SpendingModel } from './spending-model.ts'

/** What a buyer has in a currency, owes, and of what they have is held, by purpose. */
type Holdings = { posted: number; owed: number; held: Record<string, number> }
const none: Holdings = { posted: 0, owed: 0, held: {} }

/** Compares what the buyers of a market have with the model of it. */
export class SpendingChecks {
  /** Accepted operations by kind. */
  readonly accepted = new Map<string, number>()
  readonly #database: Database
  readonly #market: SpendingMarket
  readonly #model: SpendingModel
  /** As it was after the last operation. */
  #last: Map<string, Holdings> | undefined

  constructor(database: Database, market: SpendingMarket, model: SpendingModel) {
    this.#database = database
    this.#market = market
    this.#model = model
  }

  count(what: string): void {
    this.accepted.set(what, (this.accepted.get(what) ?? 0) + 1)
  }

  /** All balances match the model, all reservations are covered, and nothing else is held. */
  async compare(): Promise<void> {
    this.#last = await this.holdings()
    for (const [key, { posted, owed, held }] of this.#last) {
      const [index, currency] = key.split(' ') as [string, Currency]
      const [buyer, model] = [Number(index), this.#model]
      const { calls_hold: forCalls = 0, training_hold: forRuns = 0, ...others } = held
      expect(posted - owed, `worth of ${key}`).toBe(model.worth[buyer][currency])
      const forOrders = total(others)
      expect({ forRuns, forOrders }, key).toEqual({
        forRuns: model.heldForRuns(buyer, currency),
        forOrders: model.heldForOrders(buyer, currency),
      })
      expect(forCalls * 1_000, `held for calls of ${key}`).toBeGreaterThanOrEqual(model.dueOf(buyer, currency))
      expect(posted - forCalls - forRuns - forOrders, `available of ${key}`).toBeGreaterThanOrEqual(0)
      expect(posted, `promised of ${key}`).toBeGreaterThanOrEqual(model.promised(buyer, currency))
      expect(model.freeUsed(buyer, currency)).toBeLessThanOrEqual(model.quota)
    }
  }

  /** Read without the services, from accounts and transfers. */
  async holdings(): Promise<Map<string, Holdings>> {
    const { buyers } = this.#market
    const ids = buyers.map(({ accountId }) => accountId)
    const { rows } = await sql<{ owner: string; currency: string; posted: number; owed: number; held: object | null }>`
      select owner_id as owner, currency,
        sum(credits_posted - debits_posted) filter (where code <> 'debt')::bigint as posted,
        coalesce(sum(debits_posted - credits_posted) filter (where code = 'debt'), 0)::bigint as owed,
        (select json_object_agg(code, amount) from (
          select code, sum(amount) as amount from ledger_transfers transfers
          join ledger_open_pendings open on open.transfer_id = transfers.id
          where transfers.currency = accounts.currency and debit_account_id in (
            select id from ledger_accounts where owner_id = accounts.owner_id)
          group by code) open) as held
      from ledger_accounts accounts where owner_id = any(${`{${ids.join(',')}}`}::text::uuid[])
      group by owner_id, currency`.execute(this.#database.query)
    const holdings = new Map<string, Holdings>()
    for (const buyer of ids.keys()) for (const currency of currencies) holdings.set(`${buyer} ${currency}`, none)
    for (const { owner, currency, posted, owed, held } of rows)
      holdings.set(`${ids.indexOf(owner)} ${currency}`, {
        ...{ posted: Number(posted), owed: Number(owed) },
        held: (held ?? {}) as Record<string, number>,
      })
    return holdings
  }

  /** Of an operation that was not compared yet: that a refusal has its reason: what was missing was not available, a cap was in the way, or the price was another one. */
  expectReason(
    { code }: Done<unknown>,
    spender: Spender,
    wanted: { thousandths: number; currency: Currency; isCall: boolean; agent?: number; otherPrice: boolean },
  ): void {
    const capped = this.#model.isCapped(spender, wanted)
    if (code === 'done') {
      expect({ capped, otherPrice: wanted.otherPrice }).toEqual({ capped: false, otherPrice: false })
      return
    }
    const reasons = ['insufficient_funds', 'spend_cap_exceeded', 'price_changed', 'payment_required']
    expect(reasons).toContain(code)
    if (code === 'spend_cap_exceeded') expect(capped).toBe(true)
    if (code === 'price_changed' || code === 'payment_required') expect(wanted.otherPrice).toBe(true)
    if (code !== 'insufficient_funds') return
    const available = this.available(spender.buyer, wanted.currency, wanted.isCall)
    // What idle versions carry over may be added to a call.
    const due = wanted.isCall ? this.#model.dueOf(spender.buyer, wanted.currency) + 999 : 0
    expect(due + wanted.thousandths, 'it was not there').toBeGreaterThan(available * 1_000)
  }

  /** What can be spent; on calls, what is held for calls as well. */
  available(buyer: number, currency: Currency, isCall = false): number {
    const { posted, held } = this.#last?.get(`${buyer} ${currency}`) ?? none
    return posted - total(held) + (isCall ? (held.calls_hold ?? 0) : 0)
  }
}

const total = (held: object): number => Object.values(held).reduce((sum, amount) => sum + amount, 0)
