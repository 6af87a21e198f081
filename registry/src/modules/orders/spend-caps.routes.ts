import {
  putSpendCapRequestSchema,
  spendCapListRequestSchema,
  spendCapListSchema,
  spendCapSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { removeSpendCap, setSpendCap, spendCapsOf } from './spend-caps.ts'

const listRoute = defineRoute({
  access: 'market:buy',
  method: 'get',
  path: '/v1/spend-caps',
  operationId: 'listSpendCaps',
  summary: 'Spend caps of an account and its tokens',
  description: 'Includes the amount spent under each cap. Requires the scope `market:buy`.',
  request: { query: spendCapListRequestSchema },
  responses: {
    200: { description: 'All spend caps of the account and its tokens.', content: json(spendCapListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const putRoute = defineRoute({
  access: 'account:manage',
  method: 'put',
  path: '/v1/spend-caps',
  operationId: 'setSpendCap',
  summary: 'Set a spend cap for an account or a token',
  description:
    'Days and months are in UTC. Refunds do not reduce the amount spent. Requires the scope `account:manage`, for an organization the role of admin, and a token without a cap of its own.',
  request: { body: { required: true, content: json(putSpendCapRequestSchema) } },
  responses: {
    200: { description: 'The cap.', content: json(spendCapSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found', 'token_not_found'),
  },
})

const removeRoute = defineRoute({
  access: 'account:manage',
  method: 'delete',
  path: '/v1/spend-caps/{id}',
  operationId: 'removeSpendCap',
  summary: 'Remove a spend cap',
  request: { params: z.object({ id: z.uuid() }) },
  responses: {
    204: { description: 'The spend cap was removed.' },
    ...failures('unauthenticated', 'forbidden', 'spend_cap_not_found'),
  },
})

export function spendCapRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(listRoute, async (c) => {
    const { account } = c.req.valid('query')
    return c.json(await spendCapsOf(services, { actor: c.get('actor'), account }), 200)
  })
  routes.openapi(putRoute, async (c) => {
    const requested = { actor: c.get('actor'), ip: c.get('ip'), request: c.req.valid('json') }
    return c.json(await setSpendCap(services, requested), 200)
  })
  routes.openapi(removeRoute, async (c) => {
    await removeSpendCap(services, { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id })
    return c.body(null, 204)
  })
  return routes
}
