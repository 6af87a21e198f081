import { webhookReceivedSchema } from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'

import { paymentProvider } from './open-provider.ts'
import { takeEvent } from './take-event.ts'

const stripeRoute = createRoute({
  method: 'post',
  path: '/v1/webhooks/stripe',
  operationId: 'takeStripeEvent',
  summary: 'Events of Stripe',
  description:
    'Stripe calls this, and signs what it sends (`stripe-signature`). Each event counts once; what is none of ours is answered likewise. Events to send: `checkout.session.*`, `charge.dispute.*`, `charge.refunded`, `transfer.reversed`, `account.updated` (of connected accounts).',
  responses: {
    200: {
      description: 'It has been taken, now or before.',
      content: json(webhookReceivedSchema),
    },
    ...failures('webhook_signature_invalid', 'payment_provider_unavailable'),
  },
})

/** What the payment provider tells by itself. Nobody is logged in here: the signature is the authority. */
export function webhookRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(stripeRoute, async (c) => {
    const provider = await paymentProvider(services)
    // The very bytes: the signature is over them, not over what JSON makes of them.
    const body = new Uint8Array(await c.req.arrayBuffer())
    const event = await provider.readEvent(body, c.req.header('stripe-signature'))
    await takeEvent(services, provider.name, event)
    return c.json({ received: true as const }, 200)
  })
  return routes
}
