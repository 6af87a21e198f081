import {
  createOrderRequestSchema,
  entitlementListRequestSchema,
  entitlementListSchema,
  idempotencyHeadersSchema,
  orderListRequestSchema,
  orderListSchema,
  orderSchema,
  refundRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { type OrderServices, placeOrder } from './place-order.ts'
import { listEntitlements, listOrders, showOrder } from './read-orders.ts'
import { refundOrder } from './refunds.ts'
import { cancelOrder } from './unpaid-orders.ts'

const params = z.object({ id: z.uuid() })

const placeRoute = defineRoute({
  access: 'market:buy',
  method: 'post',
  path: '/v1/orders',
  operationId: 'placeOrder',
  summary: 'Buy a package',
  description:
    'Pays from the balance immediately, or through the payment provider at the `checkout_url` of the order. If you already own the license, its order is returned and nothing is charged. Requires the scope `market:buy`, and for an organization the role of member.',
  request: { headers: idempotencyHeadersSchema, body: { required: true, content: json(createOrderRequestSchema) } },
  responses: {
    200: { description: 'You already own it, or the order awaits payment.', content: json(orderSchema) },
    201: { description: 'The order.', content: json(orderSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'rate_limited',
      'account_not_found',
      'package_not_found',
      'package_taken_down',
      'version_not_found',
      'version_yanked',
      'not_for_sale',
      'self_purchase',
      'price_changed',
      'insufficient_funds',
      'spend_cap_exceeded',
      'idempotency_key_reused',
    ),
  },
})

const listRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/orders',
  operationId: 'listOrders',
  summary: 'Your purchases, or your sales',
  description: 'Newest first. Requires the scope `market:buy` or `market:sell`.',
  request: { query: orderListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(orderListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const orderCodes = ['unauthenticated', 'forbidden', 'order_not_found'] as const

const showRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/orders/{id}',
  operationId: 'getOrder',
  summary: 'An order',
  description: 'For members of the buyer or the seller, and for operators.',
  request: { params },
  responses: { 200: { description: 'The order.', content: json(orderSchema) }, ...failures(...orderCodes) },
})

const cancelRoute = defineRoute({
  access: 'account',
  method: 'post',
  path: '/v1/orders/{id}/cancel',
  operationId: 'cancelOrder',
  summary: 'Cancel an order that awaits payment',
  description: 'A payment that arrives later is credited to the balance. Repeating the request changes nothing.',
  request: { params },
  responses: {
    200: { description: 'Cancelled.', content: json(orderSchema) },
    ...failures(...orderCodes, 'order_state_conflict'),
  },
})

const refundRoute = defineRoute({
  access: 'account',
  method: 'post',
  path: '/v1/orders/{id}/refunds',
  operationId: 'refundOrder',
  summary: 'Refund an order',
  description:
    'Refunds to the buyer’s balance. Sellers and operators can refund any part at any time (scope `market:sell`). Buyers can refund the full price within 14 days if the license is unused (scope `market:buy`). A full refund ends the license.',
  request: { params, headers: idempotencyHeadersSchema, body: { required: true, content: json(refundRequestSchema) } },
  responses: {
    200: { description: 'The updated order.', content: json(orderSchema) },
    ...failures(...orderCodes, 'order_state_conflict', 'refund_exceeds', 'refund_refused', 'idempotency_key_reused'),
  },
})

const entitlementsRoute = defineRoute({
  access: 'account',
  method: 'get',
  path: '/v1/entitlements',
  operationId: 'listEntitlements',
  summary: 'List licenses',
  description: 'Licenses of your account and your organizations. Requires the scope `market:buy` or `market:sell`.',
  request: { query: entitlementListRequestSchema },
  responses: {
    200: { description: 'One page, newest first.', content: json(entitlementListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

/** Orders, for buyers and sellers. */
export function orderRoutes(services: OrderServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(placeRoute, async (c) => {
    const { status, order } = await placeOrder(services, {
      actor: c.get('actor'),
      request: c.req.valid('json'),
      idempotencyKey: c.req.valid('header')['idempotency-key'],
      ip: c.get('ip'),
    })
    return c.json(order, status)
  })
  routes.openapi(listRoute, async (c) => c.json(await listOrders(services, c.get('actor'), c.req.valid('query')), 200))
  routes.openapi(showRoute, async (c) =>
    c.json(await showOrder(services, c.get('actor'), c.req.valid('param').id), 200),
  )
  routes.openapi(cancelRoute, async (c) => {
    const { id } = c.req.valid('param')
    return c.json(await cancelOrder(services, { actor: c.get('actor'), id, ip: c.get('ip') }), 200)
  })
  routes.openapi(refundRoute, async (c) => {
    const order = await refundOrder(services, {
      actor: c.get('actor'),
      id: c.req.valid('param').id,
      request: c.req.valid('json'),
      idempotencyKey: c.req.valid('header')['idempotency-key'],
      ip: c.get('ip'),
    })
    return c.json(order, 200)
  })
  routes.openapi(entitlementsRoute, async (c) =>
    c.json(await listEntitlements(services, c.get('actor'), c.req.valid('query')), 200),
  )
  return routes
}
