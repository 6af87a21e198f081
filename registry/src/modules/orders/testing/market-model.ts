import assert from 'node:assert'
import { type SaleParts, splitRefund, splitSale } from '../../ledger/rules/amounts.ts'

export type ModelTrader = { balance: number; earnings: number; debt: number }
export type ModelPackage = { owner: number; author: number | null; royalty: number; price: number; perRun: boolean }
export type ModelOrder = {
  buyer: number
  listed: number
  seller: number
  author: number | null
  parts: SaleParts
  refunded: number
  state: 'held' | 'paid' | 'refunded' | 'charged_back' | 'cancelled'
  used: boolean
}

/** The simplest model of a market with a few traders, one operation after another. Amounts are minor units. */
export class MarketModel {
  readonly traders: ModelTrader[]
  readonly packages: ModelPackage[]
  readonly orders: ModelOrder[] = []
  readonly #feeBasisPoints: number
  fees = 0

  constructor(traders: number, packages: ModelPackage[], feeBasisPoints: number) {
    this.traders = Array.from({ length: traders }, () => ({ balance: 0, earnings: 0, debt: 0 }))
    this.packages = packages.map((listed) => ({ ...listed }))
    this.#feeBasisPoints = feeBasisPoints
  }

  /** A trader's total less debts, which does not depend on the order of events. */
  worth(trader: number): number {
    const { balance, earnings, debt } = this.traders[trader]
    return balance + earnings - debt
  }

  topUp(trader: number, amount: number): void {
    this.traders[trader].balance += amount
  }

  payOut(trader: number, amount: number): boolean {
    if (this.traders[trader].earnings < amount) return false
    this.traders[trader].earnings -= amount
    return true
  }

  /** The order that a license is held by. */
  license(buyer: number, listed: number): number {
    return this.orders.findIndex(
      (order) =>
        order.buyer === buyer && order.listed === listed && order.state === 'paid' && !this.packages[listed].perRun,
    )
  }

  buy(buyer: number, listed: number, { shown, provider }: { shown: number; provider: boolean }): string {
    const { owner, price, perRun } = this.packages[listed]
    if (this.license(buyer, listed) !== -1) return 'existing'
    if (owner === buyer) return 'self_purchase'
    if (shown !== price) return 'price_changed'
    if (perRun) return 'not_for_sale'
    if (provider) this.topUp(buyer, price)
    else if (this.traders[buyer].balance < price) return 'insufficient_funds'
    this.#sell(this.#order(buyer, listed, 'paid'))
    return 'done'
  }

  holdForRun(buyer: number, listed: number): string {
    const { owner, price } = this.packages[listed]
    if (owner === buyer) return 'nothing'
    if (this.traders[buyer].balance < price) return 'insufficient_funds'
    this.#order(buyer, listed, 'held')
    this.traders[buyer].balance -= price
    return 'done'
  }

  settle(index: number, outcome: 'post' | 'void'): void {
    const order = this.orders[index]
    if (order.state !== 'held') return
    this.traders[order.buyer].balance += totalOf(order)
    order.state = outcome === 'post' ? 'paid' : 'cancelled'
    if (outcome === 'post') this.#sell(order)
  }

  refund(index: number, by: 'seller' | 'buyer' | 'stranger', amount: number | undefined): string {
    const order = this.orders[index]
    const left = totalOf(order) - order.refunded
    if (by === 'stranger') return 'order_not_found'
    if (order.state !== 'paid') return 'order_state_conflict'
    if (by === 'buyer' && (order.used || this.packages[order.listed].perRun || (amount ?? left) < left))
      return 'refund_refused'
    if ((amount ?? left) > left) return 'refund_exceeds'
    this.#reverse(order, amount ?? left, 'refunded')
    return 'done'
  }

  /** The bank takes back what an order cost. */
  chargeBack(index: number): void {
    const order = this.orders[index]
    if (order.state === 'paid') this.#reverse(order, totalOf(order) - order.refunded, 'charged_back')
    const trader = this.traders[order.buyer]
    let left = totalOf(order)
    for (const code of ['balance', 'earnings'] as const) {
      const taken = Math.min(left, trader[code])
      trader[code] -= taken
      left -= taken
    }
    trader.debt += left
  }

  #order(buyer: number, listed: number, state: ModelOrder['state']): ModelOrder {
    const { owner: seller, author, royalty, price } = this.packages[listed]
    const request = { priceMinor: BigInt(price), feeBasisPoints: this.#feeBasisPoints }
    const parts = splitSale({ ...request, royalty: author === null ? undefined : { basisPoints: royalty } })
    const paidAuthor = parts.royaltyMinor === 0n ? null : author
    const order = { buyer, listed, seller, author: paidAuthor, parts, refunded: 0, state, used: false }
    this.orders.push(order)
    return order
  }

  #sell(order: ModelOrder): void {
    this.traders[order.buyer].balance -= totalOf(order)
    this.fees += Number(order.parts.feeMinor)
    this.traders[order.seller].earnings += Number(order.parts.sellerMinor)
    if (order.author !== null) this.traders[order.author].earnings += Number(order.parts.royaltyMinor)
    for (const trader of [order.seller, order.author]) if (trader !== null) this.#repay(this.traders[trader])
  }

  #repay(trader: ModelTrader): void {
    for (const code of ['earnings', 'balance'] as const) {
      const paid = Math.min(trader.debt, trader[code])
      trader[code] -= paid
      trader.debt -= paid
    }
  }

  #reverse(order: ModelOrder, amount: number, end: 'refunded' | 'charged_back'): void {
    const split = { refundedMinor: BigInt(order.refunded), amountMinor: BigInt(amount) }
    const { feeMinor, sellerMinor, royaltyMinor } = splitRefund(order.parts, split)
    this.fees -= Number(feeMinor)
    this.#give(this.traders[order.seller], Number(sellerMinor))
    if (order.author !== null) this.#give(this.traders[order.author], Number(royaltyMinor))
    this.traders[order.buyer].balance += amount
    order.refunded += amount
    assert(order.refunded <= totalOf(order))
    if (order.refunded === totalOf(order)) order.state = end
  }

  #give(trader: ModelTrader, amount: number): void {
    const earned = Math.min(amount, trader.earnings)
    trader.earnings -= earned
    trader.debt += amount - earned
  }
}

export function totalOf({ parts }: Pick<ModelOrder, 'parts'>): number {
  return Number(parts.feeMinor + parts.royaltyMinor + parts.sellerMinor)
}
