import type { PackageTarget } from '@agentgym/agent/packages'
import { packagePath } from '@agentgym/client'
import {
  type Balance,
  balanceSchema,
  type Offer,
  type Order,
  offerSchema,
  orderListSchema,
  orderSchema,
  type Payment,
  type PricePage,
  paymentListSchema,
  paymentSchema,
  pricePageSchema,
  type SetPriceRequest,
} from '@agentgym/contract'
import type { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { callApi, idempotencyKey, sendIdempotent } from '../registry/call-api.ts'

/** The offer for a package; `account` is the organization that would buy it. */
export function readOffer(connection: Connection, { name, range }: PackageTarget, account?: string): Promise<Offer> {
  return callApi(connection, {
    path: `${packagePath(name)}/offer`,
    query: { range, account },
    answer: offerSchema,
  })
}

export type Purchase = { target: PackageTarget; offer: Offer; account?: string; payWith: 'balance' | 'provider' }

/**
 * Buys at the price that was shown, or not at all. The idempotency key is made of the purchase and the state of the last
 * order for it: the same command typed twice is one order, and one after a refund is a new one.
 */
export async function placeOrder(connection: Connection, purchase: Purchase): Promise<Order> {
  const { target, offer, account, payWith } = purchase
  const { orders } = await listOrders(connection, { package: target.name, account, limit: 1 })
  const { id, amount_minor } = offer.price
  const last = orders.length === 0 ? '' : `${orders[0].id} ${orders[0].state}`
  const key = idempotencyKey('order', account ?? '', target.name, offer.covers, id, payWith, last)
  const json = {
    package: target.name,
    range: offer.version,
    expected_price: { id, amount_minor },
    pay_with: payWith,
    account,
  }
  return sendIdempotent(connection, { method: 'POST', path: '/v1/orders', json, answer: orderSchema }, key)
}

export type OrderFilter = {
  role?: 'purchases' | 'sales'
  state?: string
  package?: string
  account?: string
  limit?: number
  cursor?: string
}

/** Newest first, a page at a time. */
export function listOrders(connection: Connection, filter: OrderFilter): Promise<z.infer<typeof orderListSchema>> {
  return callApi(connection, { path: '/v1/orders', query: filter, answer: orderListSchema })
}

function orderPath(id: string): string {
  return `/v1/orders/${encodeURIComponent(id)}`
}

export function readOrder(connection: Connection, id: string, signal?: AbortSignal): Promise<Order> {
  return callApi(connection, { path: orderPath(id), answer: orderSchema, signal })
}

/** Cancels an order that awaits payment. */
export function cancelOrder(connection: Connection, id: string): Promise<Order> {
  return callApi(connection, { method: 'POST', path: `${orderPath(id)}/cancel`, answer: orderSchema })
}

export type RefundRequest = { amount_minor?: number; reason: string }

/** Refunds with the same amount and reason are the same refund, and happen once. */
export function refundOrder(connection: Connection, id: string, json: RefundRequest): Promise<Order> {
  const key = idempotencyKey('refund', id, json.amount_minor ?? 'all', json.reason)
  const request = { method: 'POST' as const, path: `${orderPath(id)}/refunds`, json, answer: orderSchema }
  return sendIdempotent(connection, request, key)
}

export function readBalance(connection: Connection, account?: string): Promise<Balance> {
  return callApi(connection, { path: '/v1/balance', query: { account }, answer: balanceSchema })
}

export type TopUp = { amount_minor: number; account?: string; test_outcome?: string }

export function topUp(connection: Connection, json: TopUp): Promise<Payment> {
  return sendIdempotent(connection, { method: 'POST', path: '/v1/top-ups', json, answer: paymentSchema })
}

export function readPayment(connection: Connection, id: string, signal?: AbortSignal): Promise<Payment> {
  return callApi(connection, { path: `/v1/payments/${encodeURIComponent(id)}`, answer: paymentSchema, signal })
}

/** The newest payments; older pending ones have expired. */
export function listPayments(connection: Connection, account?: string): Promise<z.infer<typeof paymentListSchema>> {
  return callApi(connection, { path: '/v1/payments', query: { account, limit: 20 }, answer: paymentListSchema })
}

export function readPrices(connection: Connection, name: string): Promise<PricePage> {
  return callApi(connection, { path: `${packagePath(name)}/price`, answer: pricePageSchema })
}

export function setPrice(connection: Connection, name: string, json: SetPriceRequest): Promise<PricePage> {
  return callApi(connection, { method: 'PUT', path: `${packagePath(name)}/price`, json, answer: pricePageSchema })
}
