import {
  balanceRequestSchema,
  balanceSchema,
  idempotencyHeadersSchema,
  paymentListRequestSchema,
  paymentListSchema,
  paymentSchema,
  payoutDestinationSchema,
  payoutListRequestSchema,
  payoutListSchema,
  payoutRequestSchema,
  payoutSchema,
  putPayoutDestinationRequestSchema,
  topUpRequestSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { type PaymentServices, providerName } from './payment-provider.ts'
import { openPayoutDestination, showPayoutDestination } from './payout-destination.ts'
import { requestPayout } from './payouts.ts'
import { listPaymentsOf, listPayoutsOf, showBalance, showPayment } from './read-payments.ts'
import { testCheckoutRoutes } from './test-checkout.routes.ts'
import { topUp } from './top-up.ts'
import { webhookRoutes } from './webhooks.routes.ts'

const paymentParams = z.object({ id: z.uuid().openapi({ example: '0b8e5f0c-4a3d-4b5e-9c39-6f1d0e2a7c11' }) })

const balanceRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/balance',
  operationId: 'getBalance',
  summary: 'Balance of an account',
  description: 'For all members of the account. Requires the scope `market:buy` or `market:sell`.',
  request: { query: balanceRequestSchema },
  responses: {
    200: { description: 'The balance.', content: json(balanceSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const topUpRoute = defineRoute({
  access: 'market:buy',
  method: 'post',
  path: '/v1/top-ups',
  operationId: 'topUp',
  summary: 'Top up a balance',
  description:
    'Returns the payment. If it has a `checkout_url`, pay there; the balance is credited when the provider confirms the payment. For members of the account. Requires the scope `market:buy`.',
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

const listRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/payments',
  operationId: 'listPayments',
  summary: 'List payments',
  description: 'Top-ups, and orders paid through the provider. Requires the scope `market:buy` or `market:sell`.',
  request: { query: paymentListRequestSchema },
  responses: {
    200: { description: 'Newest first.', content: json(paymentListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const paymentRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/payments/{id}',
  operationId: 'getPayment',
  summary: 'Show a payment',
  request: { params: paymentParams },
  responses: {
    200: { description: 'The payment.', content: json(paymentSchema) },
    ...failures('unauthenticated', 'forbidden', 'payment_not_found'),
  },
})

/** Incoming and outgoing payments, and balances. */
export function paymentRoutes(services: PaymentServices): OpenAPIHono<Env> {
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

const codes = ['unauthenticated', 'forbidden', 'account_not_found'] as const

const destinationRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/payout-destination',
  operationId: 'getPayoutDestination',
  summary: 'Get the payout destination',
  description: 'For admins of the account. Requires the scope `market:sell`.',
  request: { query: putPayoutDestinationRequestSchema },
  responses: { 200: { description: 'It.', content: json(payoutDestinationSchema) }, ...failures(...codes) },
})

const putDestinationRoute = defineRoute({
  access: 'market:sell',
  secondFactor: true,
  method: 'put',
  path: '/v1/payout-destination',
  operationId: 'openPayoutDestination',
  summary: 'Set up the payout destination',
  description:
    'Creates an account at the payment provider if there is none, and returns the URL of the provider’s form until it is complete. For admins of the account. Requires the scope `market:sell`, and the second factor if there is one.',
  request: {
    body: { required: true, content: { 'application/json': { schema: putPayoutDestinationRequestSchema } } },
  },
  responses: {
    200: { description: 'It.', content: json(payoutDestinationSchema) },
    ...failures(...codes, 'second_factor_required', 'payment_declined', 'payment_provider_unavailable', 'rate_limited'),
  },
})

const listPayoutsRoute = defineRoute({
  access: 'market:sell',
  method: 'get',
  path: '/v1/payouts',
  operationId: 'listPayouts',
  summary: 'List payouts',
  description: 'For admins of the account. Requires the scope `market:sell`.',
  request: { query: payoutListRequestSchema },
  responses: { 200: { description: 'Newest first.', content: json(payoutListSchema) }, ...failures(...codes) },
})

const requestPayoutRoute = defineRoute({
  access: 'market:sell',
  secondFactor: true,
  method: 'post',
  path: '/v1/payouts',
  operationId: 'requestPayout',
  summary: 'Pay out cleared earnings',
  description:
    'The payout becomes `paid` when the provider confirms it. A failed payout returns the amount to the earnings. For admins of the account. Requires the scope `market:sell`, and the second factor if there is one.',
  request: {
    headers: idempotencyHeadersSchema,
    body: { required: true, content: { 'application/json': { schema: payoutRequestSchema } } },
  },
  responses: {
    201: { description: 'The payout.', content: json(payoutSchema) },
    ...failures(
      ...codes,
      'second_factor_required',
      'payout_not_ready',
      'payout_below_cleared',
      'idempotency_key_reused',
      'rate_limited',
    ),
  },
})

/** Payouts to sellers and authors. */
function payoutRoutes(services: PaymentServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(destinationRoute, async (c) =>
    c.json(await showPayoutDestination(services, c.get('actor'), c.req.valid('query').account), 200),
  )
  routes.openapi(putDestinationRoute, async (c) => {
    const { account } = c.req.valid('json')
    return c.json(await openPayoutDestination(services, c.get('actor'), { account, ip: c.get('ip') }), 200)
  })
  routes.openapi(listPayoutsRoute, async (c) =>
    c.json(await listPayoutsOf(services, c.get('actor'), c.req.valid('query')), 200),
  )
  routes.openapi(requestPayoutRoute, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const request = c.req.valid('json')
    return c.json(
      await requestPayout(services, { actor: c.get('actor'), request, idempotencyKey, ip: c.get('ip') }),
      201,
    )
  })
  return routes
}
