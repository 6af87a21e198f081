import { rpcRequestSchema, rpcResponseSchema } from '@agentgym/contract'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { createRoutes } from '../server/create-routes.ts'
import type { Env } from '../server/env.ts'
import { failures } from '../server/failures.ts'
import type { Services } from '../server/services.ts'
import { json } from './route-parts.ts'

const rpcRoute = createRoute({
  method: 'post',
  path: '/rpc',
  operationId: 'callRpc',
  summary: 'Training by JSON-RPC 2.0',
  description:
    'One request, or a batch of up to 50. Methods: `training.start_grpo`, `training.start`, `training.get_status`, `training.cancel`, `training.evaluate`, `training.export_trajectories`. Params are given by name.',
  request: {
    body: { required: true, content: json(z.union([rpcRequestSchema, z.array(rpcRequestSchema).min(1).max(50)])) },
  },
  responses: {
    200: {
      description: 'The answer, or those of a batch, in the order of its requests.',
      content: json(z.union([rpcResponseSchema, z.array(rpcResponseSchema)])),
    },
    204: { description: 'Notifications only: there is nothing to answer.' },
    ...failures('unauthenticated', 'request_too_large'),
  },
})

/** The same functions as the routes of runs, by JSON-RPC 2.0. */
export function rpcRoutes(_services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  // Described only: what is no request is answered as JSON-RPC wants it, not as `request_invalid`.
  routes.openAPIRegistry.registerPath(rpcRoute)
  routes.post('/rpc', () => {
    throw new Error('under construction')
  })
  return routes
}
