import { randomUUID } from 'node:crypto'
import { type Answer, serveApp } from '@agentgym/testkit/registry'
import type { TestServices } from '@agentgym/testkit/services'
import { expect } from 'vitest'
import type { Actor, Scope } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { MarketConfig } from '../../../core/services.ts'
import { auditLedger } from '../../ledger/audit-ledger.ts'
import { auditMarket } from '../../orders/audit-market.ts'
import { orderRoutes } from '../../orders/orders.routes.ts'
import { createTrader, holdings, type Listed, listPackage } from '../../orders/testing/marketplace.ts'
import { earningsRoutes } from '../earnings.routes.ts'
import { paymentRoutes } from '../payments.routes.ts'
import { type Delivery, deliver, type StripeStandIn, startStripeStandIn } from './stripe-stand-in.ts'

type Sent = { json?: unknown; headers?: Record<string, string>; key?: string }

export type PaymentsServer = {
  url: string
  services: TestServices
  /** A user's token with that scope. */
  token(actor: Actor, scopes?: Scope[]): Promise<string>
  call(method: string, path: string, token: string | null, sent?: Sent): Promise<Answer>
  close(): Promise<void>
}

/** Orders, payments and earnings behind the whole application, over a real socket; paid through Stripe where one is given. */
export async function startPaymentsServer(
  database: Database,
  stripe: StripeStandIn | null = null,
  market: Partial<MarketConfig> = {},
): Promise<PaymentsServer> {
  const { tokenOf, call, ...served } = await serveApp(database, (services) => {
    services.config.market = { ...services.config.market, stripe: settingsOf(stripe), ...market }
    return [orderRoutes(services), paymentRoutes(services), earningsRoutes(services)]
  })
  return {
    ...served,
    token: (actor, scopes = ['market:buy', 'market:sell']) => tokenOf(actor, scopes),
    call: (method, path, token, { json, headers, key } = {}) => {
      const idempotency = method === 'POST' ? { 'idempotency-key': key ?? randomUUID() } : undefined
      return call(method, path, { token, json, headers: { ...idempotency, ...headers } })
    },
  }
}

function settingsOf(stripe: StripeStandIn | null): MarketConfig['stripe'] {
  if (stripe === null) return null
  return { secretKey: stripe.secretKey, webhookSecret: stripe.webhookSecret, apiAddress: stripe.address }
}

export type Trader = { actor: Actor; token: string; balance(): Promise<number>; has(): Promise<Record<string, number>> }

export type StripeMarket = {
  database: Database
  stripe: StripeStandIn
  server: PaymentsServer
  trader(): Promise<Trader>
  /** A package of another seller with that price. */
  listing(seller: Trader, amountMinor: number): Promise<Listed>
  /** Asks for a top-up: its payment, and its session at Stripe. */
  ask(of: Trader, amountMinor: number): Promise<{ id: string; session: string }>
  /** A top-up that has been paid. */
  paid(of: Trader, amountMinor: number): Promise<{ id: string; session: string }>
  buy(of: Trader, listed: Listed, payWith: 'balance' | 'provider'): Promise<{ id: string; session: string }>
  /** Stripe calls our webhook: the status that it gets. */
  tell(event: unknown, delivery?: Delivery): Promise<number>
  stateOf(of: Trader, path: string): Promise<string>
  audit(): Promise<void>
  close(): Promise<void>
}

/** A market that is paid through the stand-in of Stripe. */
export async function openStripeMarket(
  database: Database,
  settings: Partial<MarketConfig> = {},
): Promise<StripeMarket> {
  const stripe = await startStripeStandIn()
  const server = await startPaymentsServer(database, stripe, settings)
  const sessionOf = (url: unknown) => String(url).split('/').at(-1) ?? ''
  const tell = (event: unknown, delivery?: Delivery) => deliver(stripe, server.url, event, delivery)
  const ask = async ({ token }: Trader, amount_minor: number) => {
    const answer = await server.call('POST', '/v1/top-ups', token, { json: { amount_minor } })
    expect(answer).toMatchObject({ status: 201, body: { state: 'pending', provider: 'stripe' } })
    return { id: String(answer.body.id), session: sessionOf(answer.body.checkout_url) }
  }
  return {
    ...{ database, stripe, server, ask, tell },
    trader: async () => {
      const actor = await createTrader(database)
      const token = await server.token(actor)
      const balance = async () => Number((await server.call('GET', '/v1/balance', token)).body.available_minor)
      return { actor, token, balance, has: () => holdings(database, actor.accountId) }
    },
    listing: ({ actor }, amountMinor) =>
      listPackage(database, {
        ...{ ownerId: actor.accountId, owner: actor.username, price: { kind: 'one_time', amountMinor } },
      }),
    paid: async (of, amountMinor) => {
      const request = await ask(of, amountMinor)
      expect(await tell(stripe.books.pay(request.session))).toBe(200)
      return request
    },
    buy: async ({ token }, { name }, payWith) => {
      const json = { package: name, pay_with: payWith }
      const { status, body } = await server.call('POST', '/v1/orders', token, { json, key: randomUUID() })
      expect(status, JSON.stringify(body)).toBeLessThan(300)
      return { id: String(body.id), session: sessionOf(body.checkout_url) }
    },
    stateOf: async ({ token }, path) => String((await server.call('GET', path, token)).body.state),
    audit: async () => {
      expect(await auditLedger(database)).toEqual([])
      expect(await auditMarket(database)).toEqual([])
    },
    close: async () => {
      await server.close()
      await stripe.close()
      await database.close()
    },
  }
}
