import {
  changeWebhookRequestSchema,
  createdWebhookSchema,
  createWebhookRequestSchema,
  webhookDeliveryListRequestSchema,
  webhookDeliveryListSchema,
  webhookDeliverySchema,
  webhookListRequestSchema,
  webhookListSchema,
  webhookSchema,
  webhookSecretSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { deliveryOf, listDeliveries, resend, sendTest } from './deliveries.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateSecret,
  type WebhookServices,
  webhookOf,
} from './webhooks.ts'

const access = 'account:manage'
const body = <Schema extends z.ZodType>(schema: Schema) => ({ body: { required: true, content: json(schema) } })
const params = z.object({ id: z.uuid() })
const refusals = ['unauthenticated', 'forbidden', 'webhook_not_found'] as const
const path = '/v1/webhooks/{id}'

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/webhooks',
  access,
  summary: 'List the webhooks of an account',
  request: { query: webhookListRequestSchema },
  responses: {
    200: { description: 'Oldest first.', content: json(webhookListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const createRoute = defineRoute({
  method: 'post',
  path: '/v1/webhooks',
  access,
  rateLimit: { name: 'create-webhook', per: 'account', limit: 100, windowSeconds: 3_600 },
  summary: 'Create a webhook',
  description:
    'Events of the account are posted to its URL, signed by the Standard Webhooks specification. The secret is shown only once.',
  request: body(createWebhookRequestSchema),
  responses: {
    201: { description: 'The webhook and its secret.', content: json(createdWebhookSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found', 'address_refused', 'webhook_state_conflict'),
    ...failures('rate_limited'),
  },
})

const showRoute = defineRoute({
  method: 'get',
  path,
  access,
  summary: 'Show a webhook',
  request: { params },
  responses: { 200: { description: 'The webhook.', content: json(webhookSchema) }, ...failures(...refusals) },
})

const changeRoute = defineRoute({
  method: 'put',
  path,
  access,
  summary: 'Change, enable or disable a webhook',
  description: 'Omitted fields are unchanged.',
  request: { params, ...body(changeWebhookRequestSchema) },
  responses: {
    200: { description: 'The webhook.', content: json(webhookSchema) },
    ...failures(...refusals, 'address_refused'),
  },
})

const deleteRoute = defineRoute({
  method: 'delete',
  path,
  access,
  summary: 'Delete a webhook and its deliveries',
  request: { params },
  responses: { 204: { description: 'It is deleted.' }, ...failures(...refusals) },
})

const rotateRoute = defineRoute({
  method: 'post',
  path: `${path}/secret`,
  access,
  summary: 'Rotate the secret of a webhook',
  description: 'For 24 hours, messages are signed with the new and the previous secret.',
  request: { params },
  responses: {
    200: { description: 'The new secret, shown only once.', content: json(webhookSecretSchema) },
    ...failures(...refusals),
  },
})

const sending = { name: 'webhook-resend', per: 'account', limit: 120, windowSeconds: 3_600 } as const

const testRoute = defineRoute({
  method: 'post',
  path: `${path}/test`,
  access,
  rateLimit: sending,
  summary: 'Send a test message to a webhook',
  request: { params },
  responses: {
    200: { description: 'The delivery, which is sent within seconds.', content: json(webhookDeliverySchema) },
    ...failures(...refusals, 'webhook_state_conflict', 'rate_limited'),
  },
})

const deliveriesRoute = defineRoute({
  method: 'get',
  path: `${path}/deliveries`,
  access,
  summary: 'List deliveries of a webhook',
  description: 'Those of the last 90 days with every attempt, newest first.',
  request: { params, query: webhookDeliveryListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(webhookDeliveryListSchema) },
    ...failures(...refusals),
  },
})

const resendRoute = defineRoute({
  method: 'post',
  path: `${path}/deliveries/{delivery}/resend`,
  access,
  rateLimit: sending,
  summary: 'Resend a delivery',
  description: 'Under the same `webhook-id`, so that a receiver that has it already can ignore it.',
  request: { params: params.extend({ delivery: z.uuid() }) },
  responses: {
    200: { description: 'The delivery, which is sent within seconds.', content: json(webhookDeliverySchema) },
    ...failures(...refusals, 'webhook_delivery_not_found', 'webhook_state_conflict', 'rate_limited'),
  },
})

export function webhookRoutes(services: WebhookServices): OpenAPIHono<Env> {
  const { database, config } = services
  const routes = createRoutes()
  const acting = (c: RequestReader) => ({ actor: c.get('actor'), ip: c.get('ip') })

  routes.openapi(listRoute, async (c) => {
    const webhooks = await listWebhooks(services, c.get('actor'), c.req.valid('query').account)
    return c.json({ webhooks }, 200)
  })
  routes.openapi(createRoute, async (c) => {
    const { webhook, secret } = await createWebhook(services, acting(c), c.req.valid('json'))
    return c.json({ ...webhook, secret }, 201)
  })
  routes.openapi(showRoute, async (c) =>
    c.json(webhookOf(await findWebhook(database.query, c.get('actor'), c.req.valid('param').id)), 200),
  )
  routes.openapi(changeRoute, async (c) =>
    c.json(await changeWebhook(services, acting(c), c.req.valid('param').id, c.req.valid('json')), 200),
  )
  routes.openapi(deleteRoute, async (c) => {
    await deleteWebhook(services, acting(c), c.req.valid('param').id)
    return c.body(null, 204)
  })
  routes.openapi(rotateRoute, async (c) => {
    const { secret, previousUntil } = await rotateSecret(services, acting(c), c.req.valid('param').id)
    return c.json({ secret, previous_until: previousUntil.toISOString() }, 200)
  })
  routes.openapi(testRoute, async (c) => c.json(await sendTest(services, c.get('actor'), c.req.valid('param').id), 200))
  routes.openapi(deliveriesRoute, async (c) => {
    const { id } = await findWebhook(database.query, c.get('actor'), c.req.valid('param').id)
    const { cursor, limit } = c.req.valid('query')
    const listKey = JSON.stringify(['deliveries', id])
    const { rows, next_cursor } = await readPage(
      { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
      (range) => listDeliveries(database.query, id, range),
    )
    return c.json({ deliveries: rows.map(deliveryOf), next_cursor }, 200)
  })
  routes.openapi(resendRoute, async (c) => {
    const { id: webhook, delivery } = c.req.valid('param')
    return c.json(await resend(services, c.get('actor'), { webhook, delivery }), 200)
  })
  return routes
}
