import {
  callAllowanceRequestSchema,
  callAllowanceSchema,
  usageAcceptedSchema,
  usageEventsRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { requireWorker } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { callAllowance } from './call-terms.ts'
import { countUsage } from './count-usage.ts'

const usageRoute = defineRoute({
  access: { operator: 'worker' },
  method: 'post',
  path: '/v1/usage-events',
  summary: 'Report hosted calls of agents',
  description:
    'For servers that host agents; requires a token with the scope `worker`. An event counts once, even if it is sent again. Either all events of a request are counted, or none.',
  request: { body: { required: true, content: json(usageEventsRequestSchema) } },
  responses: {
    200: { description: 'The number of new events.', content: json(usageAcceptedSchema) },
    ...failures('unauthenticated', 'forbidden', 'idempotency_key_reused'),
  },
})

const allowanceRoute = defineRoute({
  access: { operator: 'worker' },
  method: 'post',
  path: '/v1/call-allowance',
  summary: 'Check whether an account can call an agent',
  description: 'For servers that host agents; requires a token with the scope `worker`.',
  request: { body: { required: true, content: json(callAllowanceRequestSchema) } },
  responses: {
    200: { description: 'The decision and its reason.', content: json(callAllowanceSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'account_not_found',
      'package_not_found',
      'version_not_found',
      'package_taken_down',
      'idempotency_key_reused',
    ),
  },
})

export function meteringRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(usageRoute, async (c) => {
    requireWorker(c.get('actor'), 'call')
    return c.json(await countUsage(services, c.req.valid('json').events), 200)
  })
  routes.openapi(allowanceRoute, async (c) => {
    requireWorker(c.get('actor'), 'call')
    return c.json(await callAllowance(services, c.req.valid('json')), 200)
  })
  return routes
}
