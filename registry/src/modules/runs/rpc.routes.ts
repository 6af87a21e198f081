import {
  type ErrorReport,
  type RpcMethod,
  rpcBodySchema,
  rpcMethods,
  rpcResponseSchema,
  rpcResultSchema,
} from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { z } from 'zod'
import type { Actor } from '../../core/access/authorize.ts'
import { faultReport, sayWhenToRetry } from '../../core/http/answer-error.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, declare, failures, json, requestInvalid } from '../../core/http/route.ts'
import { evaluateRun, findEvaluation } from './evaluations.ts'
import { answerRpc, notJson, type RpcResponse, type RpcServer } from './json-rpc.ts'
import { requestOf } from './route-parts.ts'
import { requireRun } from './run-access.ts'
import { answerBytes, trajectoryPage } from './run-data.ts'
import type { RunServices } from './run-services.ts'
import { runOf } from './runs.store.ts'
import { cancelRun } from './steer-run.ts'
import { submitRun } from './submit-run.ts'

const rpcRoute = createRoute({
  method: 'post',
  path: '/rpc',
  operationId: 'callRpc',
  summary: 'Training over JSON-RPC 2.0',
  description:
    'One request, or a batch of up to 50. Methods: `training.start_grpo`, `training.start`, `training.get_status`, `training.cancel`, `training.evaluate`, `training.export_trajectories`. They do the same as the REST endpoints of runs and require the same scopes. Pass params by name. `data` of an error is the API’s error; the code is -32602 for `request_invalid` and `config_invalid`, otherwise -32000 minus the HTTP status above 400: -32001 for 401, -32003 for 403, -32004 for 404, -32009 for 409, -32022 for 422, -32029 for 429; -32053 for 503.',
  request: {
    body: { required: true, content: json(rpcBodySchema) },
  },
  responses: {
    ...failures('unauthenticated', 'request_too_large'),
    200: {
      description: 'The response, or an array of responses in the order of a batch.',
      content: json(rpcResultSchema),
    },
    503: {
      description: 'The database or the storage is unavailable, and nothing was done. With `retry-after`.',
      content: json(rpcResultSchema),
    },
    204: { description: 'The request contains only notifications, which have no response.' },
    415: { description: 'The body is not application/json.', content: json(rpcResponseSchema) },
  },
})

/** The same functions as the REST routes of runs, over JSON-RPC 2.0. */
export function rpcRoutes(services: RunServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  // For documentation only: an invalid request gets a JSON-RPC error, not `request_invalid`.
  routes.openAPIRegistry.registerPath(rpcRoute)
  // JSON-RPC has its own error format, so its methods check access.
  routes.post('/rpc', declare({ access: 'anyone' }), async (c) => {
    const type = c.req.header('content-type') ?? ''
    if (!/^application\/json *(;|$)/i.test(type)) return c.json(notJson(type), 415)
    const answer = await answerRpc(await c.req.arrayBuffer(), {
      methods: trainingMethods(services, requestOf(c)),
      fault: (error) => faultReport(services.log, c, error),
    })
    if (answer === undefined) return c.body(null, 204)
    const outage = commonOutage([answer].flat())
    if (outage === undefined) return c.json(answer, 200)
    sayWhenToRetry(c, outage)
    return c.json(answer, 503)
  })
  return routes
}

/**
 * If nothing was done because of an outage, the HTTP status is also 503, for clients and proxies that retry by status.
 */
function commonOutage(answers: RpcResponse[]): ErrorReport | undefined {
  const reports = answers.map((each) => ('error' in each ? each.error.data : undefined))
  return reports.every((report) => report?.data?.dependency !== undefined) ? reports[0] : undefined
}

type Caller = { actor: Actor | null; ip: string; traceparent: string | null }
type ParamsOf<Method extends RpcMethod> = z.output<(typeof rpcMethods)[Method]['params']>
type ResultOf<Method extends RpcMethod> = z.output<(typeof rpcMethods)[Method]['result']>
type Implementation = { [Method in RpcMethod]: (params: ParamsOf<Method>) => Promise<ResultOf<Method>> }

/** The methods of `POST /rpc`: the same as the REST routes, with params validated against their schemas. */
function trainingMethods(services: RunServices, caller: Caller): RpcServer['methods'] {
  const { database, config } = services
  const { actor } = caller
  const room = { bytes: answerBytes }
  const start = ({ idempotency_key: idempotencyKey, ...request }: ParamsOf<'training.start'>) =>
    submitRun(services, { ...caller, request, idempotencyKey })
  const implementation: Implementation = {
    'training.start_grpo': (params) => start({ ...params, algorithm: 'grpo' }),
    'training.start': start,
    'training.get_status': async ({ run_id: runId, evaluation_id: evaluationId }) => {
      if (evaluationId !== undefined) return findEvaluation(database.query, actor, evaluationId)
      const { run } = await requireRun(database.query, actor, runId ?? '')
      return runOf(run, config)
    },
    'training.cancel': ({ run_id: runId }) => cancelRun(services, { ...caller, runId }),
    'training.evaluate': ({ run_id: runId, ...wanted }) => evaluateRun(services, { ...caller, ...wanted, runId }),
    'training.export_trajectories': async ({ run_id: runId, ...page }) => {
      const { run } = await requireRun(database.query, actor, runId, 'data:export')
      return trajectoryPage(services, run.id, page, room)
    },
  }
  const names = Object.keys(rpcMethods) as RpcMethod[]
  return Object.fromEntries(names.map((name) => [name, checked(name, implementation[name])]))
}

function checked<Method extends RpcMethod>(
  name: Method,
  run: Implementation[Method],
): (params: Record<string, unknown>) => Promise<unknown> {
  return async (params) => {
    const parsed = rpcMethods[name].params.safeParse(params)
    if (!parsed.success) throw requestInvalid(parsed.error, 'params')
    return run(parsed.data as never)
  }
}
