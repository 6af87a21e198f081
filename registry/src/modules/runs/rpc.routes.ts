import { rpcBodySchema, rpcResponseSchema, rpcResultSchema } from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { bugReport } from '../../core/http/answer-error.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { answerRpc, notJson } from './json-rpc.ts'
import { requestOf } from './route-parts.ts'
import { trainingMethods } from './rpc-methods.ts'

const rpcRoute = createRoute({
  method: 'post',
  path: '/rpc',
  operationId: 'callRpc',
  summary: 'Training by JSON-RPC 2.0',
  description:
    'One request, or a batch of up to 50. Methods: `training.start_grpo`, `training.start`, `training.get_status`, `training.cancel`, `training.evaluate`, `training.export_trajectories`, which do what the routes of runs do and need the same scopes. Params are given by name. Errors carry the API’s own in `data`; their code is -32602 for `request_invalid` and `config_invalid`, else -32000 less the status above 400: -32001 for 401, -32003 for 403, -32004 for 404, -32009 for 409, -32022 for 422, -32029 for 429; -32053 for 503.',
  request: {
    body: { required: true, content: json(rpcBodySchema) },
  },
  responses: {
    200: {
      description: 'The answer, or those of a batch, in the order of its requests.',
      content: json(rpcResultSchema),
    },
    204: { description: 'Notifications only: there is nothing to answer.' },
    415: { description: 'The body is not application/json.', content: json(rpcResponseSchema) },
    ...failures('unauthenticated', 'request_too_large'),
  },
})

/** The same functions as the routes of runs, by JSON-RPC 2.0. */
export function rpcRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  // Described only: what is no request is answered as JSON-RPC wants it, not as `request_invalid`.
  routes.openAPIRegistry.registerPath(rpcRoute)
  routes.post('/rpc', async (c) => {
    const type = c.req.header('content-type') ?? ''
    if (!/^application\/json *(;|$)/i.test(type)) return c.json(notJson(type), 415)
    const answer = await answerRpc(await c.req.arrayBuffer(), {
      methods: trainingMethods(services, requestOf(c)),
      bug: (error) => bugReport(services.log, c, error),
    })
    return answer === undefined ? c.body(null, 204) : c.json(answer, 200)
  })
  return routes
}
