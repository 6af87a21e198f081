import {
  balanceRequestSchema,
  balanceSchema,
  idempotencyHeadersSchema,
  paymentListRequestSchema,
  paymentListSchema,
  paymentSchema,
  topUpRequestSchema,
} from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { runParams } from '../runs/route-parts.ts'
import { showBalance } from './balance.ts'
import { listPaymentsOf, showPayment } from './list-payments.ts'
import { providerName } from './open-provider.ts'
import { payoutRoutes } from './payouts.routes.ts'
import { testCheckoutRoutes } from './test-checkout.routes.ts'
import { topUp } from './top-up.ts'
import { webhookRoutes } from './webhooks.routes.ts'

const balanceRoute = createRoute({
  method: 'get',
  path: '/v1/balance',
  operationId: 'getBalance',
  summary: 'What an account can spend',
  description: 'For every member of the account. Takes the scope market:buy or market:sell.',
  request: { query: balanceRequestSchema },
  responses: {
    200: { description: 'The balance.', content: json(balanceSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const topUpRoute = createRoute({
  method: 'post',
  path: '/v1/top-ups',
  operationId: 'topUp',
  summary: 'Put money on a balance',
  description:
    'Answers with the payment. Where it has a `checkout_url`, somebody pays there; the money is on the balance once the provider confirms it. For members of the account. Takes the scope market:buy.',
  request: {
    headers: idempotencyHeadersSchema,
    body: { required: true, content: { 'application/json': { schema: topUpRequestSchema } } },
  },
  responses: {
    201: { description: 'The payment.', content: json(paymentSchema) },
    ...failures(
      ...(['unauthenticated', 'forbidden', 'account_not_found', 'payment_declined'] as const),
      ...(['payment_provider_unavailable', 'idempotency_key_reused', 'rate_limited'] as const),
    ),
  },
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/payments',
  operationId: 'listPayments',
  summary: 'Payments for an account',
  description: 'Top-ups, and orders that were paid at the provider. Takes the scope market:buy or market:sell.',
  request: { query: paymentListRequestSchema },
  responses: {
    200: { description: 'Newest first.', content: json(paymentListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const paymentRoute = createRoute({
  method: 'get',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Show a payment',
  request: { params: runParams },
  responses: {
    200: { description: 'The payment.', content: json(paymentSchema) },
    ...failures('unauthenticated', 'forbidden', 'payment_not_found'),
  },
})

/** Money that comes in and goes out, and what there is to spend. */
export function paymentRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(balanceRoute, async (c) =>
    c.json(await showBalance(services, c.get('actor'), c.req.valid('query').account), 200),
  )
  routes.openapi(topUpRoute, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const request = c.req.valid('json')
    return c.json(await topUp(services, { actor: c.get('actor'), request, idempotencyKey, ip: c.get('ip') }), 201)
  })
  routes.openapi(listRoute, async (c) =>
    c.json(await listPaymentsOf(services, c.get('actor'), c.req.valid('query')), 200),
  )
  routes.openapi(paymentRoute, async (c) =>
    c.json(await showPayment(services, c.get('actor'), c.req.valid('param').id), 200),
  )
  routes.route('/', payoutRoutes(services))
  routes.route('/', webhookRoutes(services))
  if (providerName(services) === 'test') routes.route('/', testCheckoutRoutes(services))
  return routes
}
