import { checkpointListSchema, runEventSchema, runMetricsRequestSchema, runMetricsSchema } from '@agentgym/contract'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { createRoutes } from '../server/create-routes.ts'
import type { Env } from '../server/env.ts'
import { failures } from '../server/failures.ts'
import type { Services } from '../server/services.ts'
import { file, json, runCodes, runParams } from './route-parts.ts'

const base = '/v1/runs/{id}'

const eventsRoute = createRoute({
  method: 'get',
  path: `${base}/events`,
  operationId: 'watchRun',
  summary: 'Events of a run, as they happen',
  description:
    'Server-sent events: `id` is the event’s `seq`, `event` its type, `data` the whole event as JSON. All of the run’s events from the first on, or those after `Last-Event-ID` (or `after`). The stream ends after the run’s last event; asked for what comes after that, the answer is 204, at which an EventSource stops. It also ends when the server does or your permission does: connect again with the id of the last event, and nothing is lost or double.',
  request: {
    params: runParams,
    query: z.object({
      after: z.coerce.number().int().nonnegative().optional().openapi({ description: '`seq` of the last event seen.' }),
    }),
    headers: z.object({
      'last-event-id': z
        .string()
        .regex(/^\d{1,15}$/, 'the id of an event')
        .optional()
        .openapi({ description: 'What `EventSource` sends when it connects again. Comes before `after`.' }),
    }),
  },
  responses: {
    200: { description: 'The events.', content: { 'text/event-stream': { schema: runEventSchema } } },
    204: { description: 'The run is over, and you have all of it.' },
    ...failures(...runCodes),
  },
})

const metricsRoute = createRoute({
  method: 'get',
  path: `${base}/metrics`,
  operationId: 'getMetrics',
  summary: 'The learning curve, one point an iteration',
  request: { params: runParams, query: runMetricsRequestSchema },
  responses: {
    200: { description: 'In order, each iteration once.', content: json(runMetricsSchema) },
    ...failures(...runCodes),
  },
})

const csvRoute = createRoute({
  method: 'get',
  path: `${base}/metrics.csv`,
  operationId: 'getMetricsAsCsv',
  summary: 'The learning curve as CSV',
  request: { params: runParams },
  responses: {
    200: { description: 'One line an iteration; a mean over no episode is empty.', content: { 'text/csv': file } },
    ...failures(...runCodes),
  },
})

const tensorboardRoute = createRoute({
  method: 'get',
  path: `${base}/metrics.tfevents`,
  operationId: 'getMetricsForTensorBoard',
  summary: "The learning curve as TensorBoard's event file",
  request: { params: runParams },
  responses: {
    200: { description: 'Scalars by step.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes),
  },
})

const checkpointsRoute = createRoute({
  method: 'get',
  path: `${base}/checkpoints`,
  operationId: 'listCheckpoints',
  summary: 'Checkpoints that are kept',
  request: { params: runParams },
  responses: {
    200: { description: 'Latest first.', content: json(checkpointListSchema) },
    ...failures(...runCodes),
  },
})

const checkpointRoute = createRoute({
  method: 'get',
  path: `${base}/checkpoints/{iteration}`,
  operationId: 'getCheckpoint',
  summary: 'A checkpoint',
  request: {
    params: runParams.extend({
      iteration: z.coerce.number().int().nonnegative().openapi({ type: 'integer', example: 40 }),
    }),
  },
  responses: {
    200: { description: 'Its bytes.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes, 'checkpoint_not_found'),
  },
})

const agentRoute = createRoute({
  method: 'get',
  path: `${base}/agent`,
  operationId: 'getAgent',
  summary: 'The trained agent, a package',
  request: { params: runParams },
  responses: {
    200: { description: 'A tarball, as `npm pack` makes it.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes, 'run_has_no_agent'),
  },
})

const trajectoriesRoute = createRoute({
  method: 'get',
  path: `${base}/trajectories`,
  operationId: 'exportTrajectories',
  summary: 'Sampled trajectories',
  description: 'One JSON object a line, in the order of iterations. Needs the scope `data:export`.',
  request: { params: runParams },
  responses: {
    200: { description: 'One episode a line.', content: { 'application/x-ndjson': file } },
    ...failures(...runCodes),
  },
})

/** What a run leaves while it goes on and after: events, curve, checkpoints, agent, trajectories. */
export function runDataRoutes(_services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(eventsRoute, () => notYet())
  routes.openapi(metricsRoute, () => notYet())
  routes.openapi(csvRoute, () => notYet())
  routes.openapi(tensorboardRoute, () => notYet())
  routes.openapi(checkpointsRoute, () => notYet())
  routes.openapi(checkpointRoute, () => notYet())
  routes.openapi(agentRoute, () => notYet())
  routes.openapi(trajectoriesRoute, () => notYet())
  return routes
}

function notYet(): never {
  throw new Error('under construction')
}
