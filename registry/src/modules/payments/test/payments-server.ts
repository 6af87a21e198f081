import { randomUUID } from 'node:crypto'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { createApp } from '../../../app/app.ts'
import { listenHttp } from '../../../app/http-listener.ts'
import type { Actor, Scope } from '../../../core/access/authorise.ts'
import { hashSecret, makeSecret } from '../../../core/access/secret.ts'
import type { Database } from '../../../core/database/database.ts'
import { backgroundSettled } from '../../../core/scheduled-tasks/scheduled-tasks.ts'
import type { MarketConfig } from '../../../core/services.ts'
import { earningsRoutes } from '../../earnings/earnings.routes.ts'
import { orderRoutes } from '../../orders/orders.routes.ts'
import { paymentRoutes } from '../payments.routes.ts'
import type { StripeStandIn } from './stripe-stand-in.ts'

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
  const rooms = [orderRoutes(services), paymentRoutes(services), earningsRoutes(services)]
  listener.answerWith(createApp(services, { rooms }).fetch)
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
