import {
  checkpointListSchema,
  runEpisodeListSchema,
  runEventSchema,
  runEventsHeadersSchema,
  runEventsRequestSchema,
  runMetricsRequestSchema,
  runMetricsSchema,
  sampleEpisodeSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Scope } from '../../core/access/authorize.ts'
import { csvType } from '../../core/http/csv.ts'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { exportStream } from '../../core/http/export-stream.ts'
import { createRoutes, defineRoute, failures, file, json } from '../../core/http/route.ts'
import { webStream } from '../../core/storage/object-store.ts'
import { metricsCsv, metricsJsonLines } from './exports/metrics-csv.ts'
import { runMetricNames, runPoints } from './exports/run-points.store.ts'
import { tensorboardEvents, tensorboardFileName } from './exports/tensorboard-events.ts'
import { episodeDescription, iterationParams, runCodes, runParams } from './route-parts.ts'
import { requireRun } from './run-access.ts'
import { listCheckpoints, metricsPage, openAgent, openCheckpoint, trajectoryLines } from './run-data.ts'
import { listEpisodes, readEpisode } from './run-episodes.ts'
import type { RunServices } from './run-services.ts'
import { streamRun } from './run-stream.ts'

const base = '/v1/runs/{id}'
/** Not a literal type, because the library would treat it as JSON by its suffix. */
const ndjson: string = 'application/x-ndjson'

const eventsRoute = defineRoute({
  method: 'get',
  path: `${base}/events`,
  access: 'training:view',
  subject: 'run',
  operationId: 'watchRun',
  summary: 'Stream the events of a run',
  description:
    'Server-sent events: `id` is the `seq` of the event, `event` its type, and `data` the whole event as JSON. Starts with the first event of the run, or after `Last-Event-ID` (or `after`). The stream ends after the last event of the run; a request for later events returns 204, which stops an EventSource. The stream also ends when the server stops or you lose access. Reconnect with the id of the last event to continue without gaps or duplicates.',
  request: {
    params: runParams,
    query: runEventsRequestSchema,
    headers: runEventsHeadersSchema,
  },
  responses: {
    200: { description: 'The events.', content: { 'text/event-stream': { schema: runEventSchema } } },
    204: { description: 'The run has ended and has no later events.' },
    ...failures(...runCodes),
  },
})

const metricsRoute = defineRoute({
  method: 'get',
  path: `${base}/metrics`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getMetrics',
  summary: 'The learning curve, one point per iteration',
  description:
    'A day after the run has ended, at most 1,000 points: the first, the last, those of evaluations, and the extremes in between. Timings and statistics of the learner then have three significant digits.',
  request: { params: runParams, query: runMetricsRequestSchema },
  responses: {
    200: { description: 'One point per iteration, in order.', content: json(runMetricsSchema) },
    ...failures(...runCodes),
  },
})

const csvRoute = defineRoute({
  method: 'get',
  path: `${base}/metrics.csv`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getMetricsAsCsv',
  summary: 'The learning curve as CSV',
  request: { params: runParams },
  responses: {
    200: { description: 'One line per iteration. A mean over zero episodes is empty.', content: { 'text/csv': file } },
    ...failures(...runCodes),
  },
})

const jsonLinesRoute = defineRoute({
  method: 'get',
  path: `${base}/metrics.jsonl`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getMetricsAsJsonLines',
  summary: 'The learning curve as JSON lines',
  request: { params: runParams },
  responses: {
    200: { description: 'One progress event per line.', content: { [ndjson]: file } },
    ...failures(...runCodes),
  },
})

const tensorboardRoute = defineRoute({
  method: 'get',
  path: `${base}/metrics.tfevents`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getMetricsForTensorBoard',
  summary: 'The learning curve as a TensorBoard event file',
  request: { params: runParams },
  responses: {
    200: { description: 'Scalars by step.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes),
  },
})

const checkpointsRoute = defineRoute({
  method: 'get',
  path: `${base}/checkpoints`,
  access: 'training:view',
  subject: 'run',
  operationId: 'listCheckpoints',
  summary: 'List checkpoints',
  request: { params: runParams },
  responses: {
    200: { description: 'Latest first.', content: json(checkpointListSchema) },
    ...failures(...runCodes),
  },
})

const checkpointRoute = defineRoute({
  method: 'get',
  path: `${base}/checkpoints/{iteration}`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getCheckpoint',
  summary: 'A checkpoint',
  request: { params: iterationParams },
  responses: {
    200: { description: 'Its bytes.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes, 'checkpoint_not_found'),
  },
})

const episodesRoute = defineRoute({
  method: 'get',
  path: `${base}/episodes`,
  access: 'training:view',
  subject: 'run',
  operationId: 'listRunEpisodes',
  summary: 'List episodes sampled during training',
  description:
    'At most 12: the first episode of held-out evaluations, spread evenly over the steps. `return` and `length` are those of the whole episode.',
  request: { params: runParams },
  responses: {
    200: { description: 'In order of steps.', content: json(runEpisodeListSchema) },
    ...failures(...runCodes),
  },
})

const episodeRoute = defineRoute({
  method: 'get',
  path: `${base}/episodes/{iteration}`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getRunEpisode',
  summary: 'An episode sampled during training',
  description: episodeDescription,
  request: { params: iterationParams },
  responses: {
    200: { description: 'The episode, for pictures.', content: json(sampleEpisodeSchema) },
    ...failures(...runCodes, 'run_episode_not_found'),
  },
})

const agentRoute = defineRoute({
  method: 'get',
  path: `${base}/agent`,
  access: 'training:view',
  subject: 'run',
  operationId: 'getAgent',
  summary: 'Download the trained agent',
  request: { params: runParams },
  responses: {
    200: { description: 'A tarball, as `npm pack` makes it.', content: { 'application/octet-stream': file } },
    ...failures(...runCodes, 'run_has_no_agent'),
  },
})

const trajectoriesRoute = defineRoute({
  method: 'get',
  path: `${base}/trajectories`,
  access: 'data:export',
  subject: 'run',
  operationId: 'exportTrajectories',
  summary: 'Sampled trajectories',
  description: 'One JSON object per line, in the order of iterations. Requires the scope `data:export`.',
  request: { params: runParams },
  responses: {
    200: { description: 'One episode per line.', content: { [ndjson]: file } },
    ...failures(...runCodes),
  },
})

/** The data of a run during and after training: events, curve, checkpoints, agent, trajectories. */
export function runDataRoutes(services: RunServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database, config } = services
  const runFor = async (c: RequestReader, id: string, scope?: Scope) =>
    (await requireRun(database.query, c.get('actor'), id, scope)).run
  routes.openapi(eventsRoute, async (c) => {
    const { run, actor } = await requireRun(database.query, c.get('actor'), c.req.valid('param').id)
    const { 'last-event-id': lastEventId } = c.req.valid('header')
    const after = lastEventId === undefined ? (c.req.valid('query').after ?? 0) : Number(lastEventId)
    const stream = streamRun(services, { actor, run, after })
    if (stream === null) return c.body(null, 204)
    return c.body(stream, 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      // Stops nginx from buffering the stream.
      'x-accel-buffering': 'no',
    })
  })
  routes.openapi(metricsRoute, async (c) => {
    const run = await runFor(c, c.req.valid('param').id)
    return c.json(await metricsPage(database.query, run.id, c.req.valid('query')), 200)
  })
  routes.openapi(csvRoute, async (c) => {
    const { id } = await runFor(c, c.req.valid('param').id)
    const lines = metricsCsv(runPoints(database.query, id), await runMetricNames(database.query, id))
    return c.body(exportStream(lines), 200, download(csvType, `run-${id}.csv`))
  })
  routes.openapi(jsonLinesRoute, async (c) => {
    const { id } = await runFor(c, c.req.valid('param').id)
    const lines = metricsJsonLines(runPoints(database.query, id))
    return c.body(exportStream(lines), 200, download(ndjson, `run-${id}.jsonl`))
  })
  routes.openapi(tensorboardRoute, async (c) => {
    const run = await runFor(c, c.req.valid('param').id)
    const startedAt = run.started_at ?? run.created_at
    const records = tensorboardEvents(runPoints(database.query, run.id), startedAt)
    return c.body(exportStream(records), 200, download(binary, tensorboardFileName(run.id, startedAt)))
  })
  routes.openapi(checkpointsRoute, async (c) => {
    const run = await runFor(c, c.req.valid('param').id)
    return c.json(await listCheckpoints(database.query, run.id, config.publicUrl), 200)
  })
  routes.openapi(checkpointRoute, async (c) => {
    const { id, iteration } = c.req.valid('param')
    const run = await runFor(c, id)
    const { body, size } = await openCheckpoint(services, run.id, iteration)
    return c.body(webStream(body), 200, download(binary, `run-${run.id}-${iteration}.checkpoint`, size))
  })
  routes.openapi(episodesRoute, async (c) => {
    const run = await runFor(c, c.req.valid('param').id)
    return c.json({ episodes: await listEpisodes(database.query, run.id) }, 200)
  })
  routes.openapi(episodeRoute, async (c) => {
    const { id, iteration } = c.req.valid('param')
    const run = await runFor(c, id)
    return c.json(await readEpisode(database.query, run.id, iteration), 200, { 'cache-control': 'no-store' })
  })
  routes.openapi(agentRoute, async (c) => {
    const run = await runFor(c, c.req.valid('param').id)
    const { body, size } = await openAgent(services, run)
    return c.body(webStream(body), 200, download(binary, `run-${run.id}.tgz`, size))
  })
  routes.openapi(trajectoriesRoute, async (c) => {
    const { id } = await runFor(c, c.req.valid('param').id, 'data:export')
    const lines = exportStream(trajectoryLines(services, id))
    return c.body(lines, 200, download(ndjson, `run-${id}-trajectories.ndjson`))
  })
  return routes
}

const binary = 'application/octet-stream'

function download(type: string, name: string, size?: number): Record<string, string> {
  return {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
    ...(size === undefined ? {} : { 'content-length': String(size) }),
  }
}
