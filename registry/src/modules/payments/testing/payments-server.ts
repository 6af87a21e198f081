import { randomUUID } from 'node:crypto'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { expect } from 'vitest'
import { createApp } from '../../../app/app.ts'
import { listenHttp } from '../../../app/http-listener.ts'
import type { Actor, Scope } from '../../../core/access/authorize.ts'
import { hashSecret, makeSecret } from '../../../core/access/secret.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import type { MarketConfig } from '../../../core/services.ts'
import { auditLedger } from '../../ledger/audit-ledger.ts'
import { auditMarket } from '../../orders/audit-market.ts'
import { orderRoutes } from '../../orders/orders.routes.ts'
import { createTrader, holdings, type Listed, listPackage } from '../../orders/testing/marketplace.ts'
import { earningsRoutes } from '../earnings.routes.ts'
import { paymentRoutes } from '../payments.routes.ts'
import { type Delivery, deliver, type StripeStandIn, startStripeStandIn } from './stripe-stand-in.ts'

type Sent = { json?: unknown; headers?: Record<string, string>; key?: string }
export type Answer = { status: number; body: Record<string, unknown>; text: string; code: string | undefined }

export type PaymentsServer = {
  url: string
  services: TestServices
  /** A token of somebody, which may do that. */
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
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const services = await testServices(database, { publicUrl: url })
  services.config.market = { ...services.config.market, stripe: settingsOf(stripe), ...market }
  const routes = [orderRoutes(services), paymentRoutes(services), earningsRoutes(services)]
  listener.answerWith(createApp(services, { routes }).fetch)
  return {
    url,
    services,
    token: (actor, scopes = ['market:buy', 'market:sell']) => insertToken(database, actor, scopes),
    call: (method, path, token, sent = {}) => send(url, { method, path, token }, sent),
    close: async () => {
      await listener.drain(1_000)
      await backgroundSettled()
      await services.remove()
    },
  }
}

function settingsOf(stripe: StripeStandIn | null): MarketConfig['stripe'] {
  if (stripe === null) return null
  return { secretKey: stripe.secretKey, webhookSecret: stripe.webhookSecret, apiAddress: stripe.address }
}

async function insertToken({ query }: Database, actor: Actor, scopes: Scope[]): Promise<string> {
  const secret = makeSecret('agt_')
  await query
    .insertInto('tokens')
    .values({
      ...{ account_id: actor.accountId, name: 'test', hash: hashSecret(secret), prefix: secret.slice(0, 8) },
      scopes: JSON.stringify(scopes),
    })
    .execute()
  return secret
}

async function send(
  url: string,
  { method, path, token }: { method: string; path: string; token: string | null },
  { json, headers, key }: Sent,
): Promise<Answer> {
  const idempotency = method === 'POST' ? { 'idempotency-key': key ?? randomUUID() } : {}
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    body: json === undefined ? undefined : JSON.stringify(json),
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...idempotency,
      ...headers,
    },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const body = isJson ? JSON.parse(text) : {}
  return { status: response.status, text, body, code: body.error?.code }
}

export type Trader = { actor: Actor; token: string; balance(): Promise<number>; has(): Promise<Record<string, number>> }

export type StripeMarket = {
  database: Database
  stripe: StripeStandIn
  server: PaymentsServer
  trader(): Promise<Trader>
  /** A package of somebody who sells it for so much. */
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
