import {
  evaluateRunRequestSchema,
  evaluationJobSchema,
  publishedVersionSchema,
  publishRunRequestSchema,
  resumeRunRequestSchema,
  runListRequestSchema,
  runListSchema,
  runSchema,
  serverStatusSchema,
  startRunHeadersSchema,
  startRunRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { evaluateRun, findEvaluation } from './evaluations.ts'
import { publishRun } from './publish-run.ts'
import { publicationCodes, requestOf, runCodes, runParams } from './route-parts.ts'
import { listRunsOf, requireRun } from './run-access.ts'
import type { RunServices } from './run-services.ts'
import { runOf } from './runs.store.ts'
import { serverStatus } from './server-status.ts'
import { cancelRun, continueRun, pauseRun } from './steer-run.ts'
import { submitRun } from './submit-run.ts'

const startRoute = defineRoute({
  method: 'post',
  path: '/v1/runs',
  access: 'training:start',
  operationId: 'startRun',
  summary: 'Start a training run',
  description:
    'Queues the run for the next free worker. The scenario must be a published version that you can read. Settings are validated as in `agentgym train`. Requires the scope `training:start`.',
  request: { headers: startRunHeadersSchema, body: { required: true, content: json(startRunRequestSchema) } },
  responses: {
    201: { description: 'Queued.', content: json(runSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'rate_limited',
      'config_invalid',
      'account_not_found',
      'package_not_found',
      'version_not_found',
      'version_not_published',
      'version_yanked',
      'idempotency_key_reused',
      ...publicationCodes,
      'package_taken_down',
      'payment_required',
      'price_changed',
      'insufficient_funds',
      'spend_cap_exceeded',
    ),
  },
})

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/runs',
  access: 'training:view',
  operationId: 'listRuns',
  summary: 'List runs of your accounts',
  description: 'Newest first. Requires the scope `training:view`.',
  request: { query: runListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(runListSchema) },
    ...failures('unauthenticated', 'forbidden', 'account_not_found'),
  },
})

const runRoute = defineRoute({
  method: 'get',
  path: '/v1/runs/{id}',
  access: 'training:view',
  subject: 'run',
  operationId: 'getRun',
  summary: 'Get a run: state, progress, cost and agent',
  request: { params: runParams },
  responses: { 200: { description: 'The run.', content: json(runSchema) }, ...failures(...runCodes) },
})

const cancelRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/cancel',
  access: 'training:cancel',
  subject: 'run',
  operationId: 'cancelRun',
  summary: 'Cancel a run',
  description:
    'A queued run ends immediately; a running one saves a checkpoint first. Repeating the request changes nothing. Requires the scope `training:cancel`.',
  request: { params: runParams },
  responses: {
    200: { description: 'The run is canceled, or about to be.', content: json(runSchema) },
    ...failures(...runCodes, 'run_state_conflict'),
  },
})

const pauseRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/pause',
  access: 'training:cancel',
  subject: 'run',
  operationId: 'pauseRun',
  summary: 'Pause a run',
  description:
    'A queued run pauses immediately; a running one saves a checkpoint first. Repeating the request changes nothing. Requires the scope `training:cancel`.',
  request: { params: runParams },
  responses: {
    200: { description: 'The run is paused, or about to be.', content: json(runSchema) },
    ...failures(...runCodes, 'run_state_conflict'),
  },
})

const resumeRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/resume',
  access: 'training:start',
  subject: 'run',
  operationId: 'resumeRun',
  summary: 'Resume a run that is paused or out of budget',
  description:
    'Continues from the last checkpoint. A run that is out of budget needs a higher one. Requires the scope `training:start`.',
  request: { params: runParams, body: { required: true, content: json(resumeRunRequestSchema) } },
  responses: {
    200: { description: 'Queued again.', content: json(runSchema) },
    ...failures(
      ...runCodes,
      'run_state_conflict',
      'rate_limited',
      'package_not_found',
      'package_taken_down',
      'payment_required',
      'price_changed',
      'insufficient_funds',
      'spend_cap_exceeded',
    ),
  },
})

const evaluateRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/evaluations',
  access: 'training:evaluate',
  subject: 'run',
  operationId: 'evaluateRun',
  summary: "Evaluate a run's agent",
  description:
    'A worker evaluates the agent with the given number of episodes and seed. Requires the scope `training:evaluate`.',
  request: { params: runParams, body: { required: true, content: json(evaluateRunRequestSchema) } },
  responses: {
    202: { description: 'Queued.', content: json(evaluationJobSchema) },
    ...failures(...runCodes, 'run_has_no_agent', 'rate_limited'),
  },
})

const publishRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/publish',
  access: 'packages:publish',
  subject: 'run',
  operationId: 'publishRun',
  summary: "Publish a run's agent",
  description:
    'Same as uploading its tarball under that name and version. Repeating the request returns the same response. Requires the scopes `training:view` and `packages:publish`.',
  request: { params: runParams, body: { required: true, content: json(publishRunRequestSchema) } },
  responses: {
    202: {
      description: 'Accepted; `GET` the version for the result of its checks.',
      content: json(publishedVersionSchema),
    },
    ...failures(...runCodes, 'run_has_no_agent', 'rate_limited', ...publicationCodes, 'agent_invalid'),
  },
})

const evaluationRoute = defineRoute({
  method: 'get',
  path: '/v1/evaluations/{id}',
  access: 'training:view',
  operationId: 'getEvaluation',
  summary: 'Get an evaluation',
  request: { params: runParams },
  responses: {
    200: { description: 'The evaluation.', content: json(evaluationJobSchema) },
    ...failures('unauthenticated', 'forbidden', 'evaluation_not_found'),
  },
})

const statusRoute = defineRoute({
  method: 'get',
  path: '/v1/status',
  access: 'training:view',
  operationId: 'getStatus',
  summary: 'Queue, workers and GPUs',
  description: 'Requires the scope `training:view`.',
  responses: {
    200: { description: 'Now.', content: json(serverStatusSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

/** Training runs for their users. The data of runs is in `run-data.routes.ts`. */
export function runRoutes(services: RunServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database, config } = services
  routes.openapi(startRoute, async (c) => {
    const run = await submitRun(services, {
      ...requestOf(c),
      request: c.req.valid('json'),
      idempotencyKey: c.req.valid('header')['idempotency-key'],
    })
    c.set('runId', run.id)
    return c.json(run, 201)
  })
  routes.openapi(listRoute, async (c) => {
    return c.json(await listRunsOf(services, c.get('actor'), c.req.valid('query')), 200)
  })
  routes.openapi(runRoute, async (c) => {
    const { run } = await requireRun(database.query, c.get('actor'), c.req.valid('param').id)
    return c.json(runOf(run, config), 200)
  })
  routes.openapi(cancelRoute, async (c) => {
    return c.json(await cancelRun(services, { ...requestOf(c), runId: c.req.valid('param').id }), 200)
  })
  routes.openapi(pauseRoute, async (c) => {
    return c.json(await pauseRun(services, { ...requestOf(c), runId: c.req.valid('param').id }), 200)
  })
  routes.openapi(resumeRoute, async (c) => {
    const { budget_minor: budgetMinor = null, pause_at: pauseAt } = c.req.valid('json')
    const resumption = { budgetMinor, pauseAt, runId: c.req.valid('param').id }
    return c.json(await continueRun(services, { ...requestOf(c), ...resumption }), 200)
  })
  routes.openapi(evaluateRoute, async (c) => {
    const requested = { ...requestOf(c), ...c.req.valid('json'), runId: c.req.valid('param').id }
    return c.json(await evaluateRun(services, requested), 202)
  })
  routes.openapi(publishRoute, async (c) => {
    const published = await publishRun(services, {
      ...requestOf(c),
      ...c.req.valid('json'),
      runId: c.req.valid('param').id,
    })
    const url = config.publicUrl + packagePagePath(published.name)
    return c.json({ ...published, url, served_integrity: published.integrity }, 202)
  })
  routes.openapi(evaluationRoute, async (c) => {
    return c.json(await findEvaluation(database.query, c.get('actor'), c.req.valid('param').id), 200)
  })
  routes.openapi(statusRoute, async (c) => c.json(await serverStatus(services, c.get('actor')), 200))
  return routes
}
