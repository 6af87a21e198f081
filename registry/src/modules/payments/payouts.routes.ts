import {
  idempotencyHeadersSchema,
  payoutDestinationSchema,
  payoutListRequestSchema,
  payoutListSchema,
  payoutRequestSchema,
  payoutSchema,
  putPayoutDestinationRequestSchema,
} from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { listPayoutsOf } from './list-payments.ts'
import { openPayoutDestination, showPayoutDestination } from './payout-destination.ts'
import { requestPayout } from './request-payout.ts'

const codes = ['unauthenticated', 'forbidden', 'account_not_found'] as const

const destinationRoute = createRoute({
  method: 'get',
  path: '/v1/payout-destination',
  operationId: 'getPayoutDestination',
  summary: 'Where earnings are paid out to',
  description: 'For admins of the account. Takes the scope market:sell.',
  request: { query: putPayoutDestinationRequestSchema },
  responses: { 200: { description: 'It.', content: json(payoutDestinationSchema) }, ...failures(...codes) },
})

const putDestinationRoute = createRoute({
  method: 'put',
  path: '/v1/payout-destination',
  operationId: 'openPayoutDestination',
  summary: 'Open where earnings are paid out to',
  description:
    'Makes the account at the payment provider where there is none, and gives the address of the provider’s form while that is not complete. For admins of the account. Takes the scope market:sell.',
  request: {
    body: { required: true, content: { 'application/json': { schema: putPayoutDestinationRequestSchema } } },
  },
  responses: {
    200: { description: 'It.', content: json(payoutDestinationSchema) },
    ...failures(...codes, 'payment_declined', 'payment_provider_unavailable', 'rate_limited'),
  },
})

const listRoute = createRoute({
  method: 'get',
  path: '/v1/payouts',
  operationId: 'listPayouts',
  summary: 'Payouts of an account',
  description: 'For admins of the account. Takes the scope market:sell.',
  request: { query: payoutListRequestSchema },
  responses: { 200: { description: 'Newest first.', content: json(payoutListSchema) }, ...failures(...codes) },
})

const requestRoute = createRoute({
  method: 'post',
  path: '/v1/payouts',
  operationId: 'requestPayout',
  summary: 'Pay out earnings that have cleared',
  description:
    'The payout is `paid` once the provider says so; one that failed leaves the earnings as they were. For admins of the account. Takes the scope market:sell.',
  request: {
    headers: idempotencyHeadersSchema,
    body: { required: true, content: { 'application/json': { schema: payoutRequestSchema } } },
  },
  responses: {
    201: { description: 'The payout.', content: json(payoutSchema) },
    ...failures(...codes, 'payout_not_ready', 'payout_below_cleared', 'idempotency_key_reused', 'rate_limited'),
  },
})

/** Money that goes out to sellers and authors. */
export function payoutRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(destinationRoute, async (c) =>
    c.json(await showPayoutDestination(services, c.get('actor'), c.req.valid('query').account), 200),
  )
  routes.openapi(putDestinationRoute, async (c) => {
    const { account } = c.req.valid('json')
    return c.json(await openPayoutDestination(services, c.get('actor'), { account, ip: c.get('ip') }), 200)
  })
  routes.openapi(listRoute, async (c) =>
    c.json(await listPayoutsOf(services, c.get('actor'), c.req.valid('query')), 200),
  )
  routes.openapi(requestRoute, async (c) => {
    const idempotencyKey = c.req.valid('header')['idempotency-key']
    const request = c.req.valid('json')
    return c.json(
      await requestPayout(services, { actor: c.get('actor'), request, idempotencyKey, ip: c.get('ip') }),
      201,
    )
  })
  return routes
}
