import {
  agentPartsRequestSchema,
  agentUploadSchema,
  checkpointDownloadQuerySchema,
  checkpointPartsRequestSchema,
  checkpointQuerySchema,
  heartbeatSchema,
  leaseHeadersSchema,
  outcomeRequestSchema,
  outcomeResultSchema,
  partBytes,
  progressRequestSchema,
  runEpisodeRequestSchema,
  sampleEpisodeLimits,
  trajectoriesRequestSchema,
  uploadPartSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { requireWorker } from '../../core/access/authorize.ts'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { leasedFile, sendLeased } from '../../core/http/leased-file.ts'
import { createRoutes, defineRoute, failures, file, json, uploadTimeoutMs } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { leaseEnd, noteUsage } from '../jobs/index.ts'
import { finishRun } from './finish-run.ts'
import { runParams } from './route-parts.ts'
import { storeEpisode } from './run-episodes.ts'
import type { RunServices } from './run-services.ts'
import { openLeasedCheckpoint, openLeasedTarball } from './train-jobs.ts'
import { recordProgress, storeAgent, storeCheckpoint, storeTrajectories } from './worker-reports.ts'
import { storePart } from './worker-uploads.ts'

const bytes = { 'application/octet-stream': file }
const writeFailures = failures('unauthenticated', 'forbidden', 'lease_lost')
const uploadFailures = failures(
  ...(['unauthenticated', 'forbidden', 'worker_incompatible', 'lease_lost', 'request_too_large'] as const),
)
const goesOn = { description: 'Accepted; the lease was extended.', content: json(heartbeatSchema) }

const progressRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/progress',
  access: { operator: 'worker' },
  bodyLimit: 16 * 2 ** 20,
  unlogged: 'on_success',
  subject: 'job',
  summary: 'Report iterations of a run',
  description: 'Send every iteration, in order. Repeated iterations are ignored.',
  request: { params: runParams, body: { required: true, content: json(progressRequestSchema) } },
  responses: { 200: goesOn, ...writeFailures },
})

const checkpointRoute = defineRoute({
  method: 'put',
  path: '/v1/jobs/{id}/checkpoint',
  access: { operator: 'worker' },
  bodyLimit: ({ training }) => training.checkpointBytes,
  timeoutMs: uploadTimeoutMs,
  subject: 'job',
  summary: 'Store a checkpoint of a run',
  description: 'The next worker continues from the last checkpoint. Report all iterations up to it first.',
  request: {
    params: runParams,
    headers: leaseHeadersSchema,
    query: checkpointQuerySchema,
    body: { required: true, content: bytes },
  },
  responses: { 200: goesOn, ...uploadFailures },
})

const partRoute = defineRoute({
  method: 'put',
  path: '/v1/jobs/{id}/parts',
  access: { operator: 'worker' },
  bodyLimit: partBytes,
  timeoutMs: uploadTimeoutMs,
  subject: 'job',
  summary: 'Store a part of a checkpoint or an agent',
  description:
    'For uploads that a proxy refuses as a whole. Parts have at most 8 MiB and are kept for an hour; send their hashes, in order, with `POST …/checkpoint` or `POST …/agent`.',
  request: { params: runParams, headers: leaseHeadersSchema, body: { required: true, content: bytes } },
  responses: { 200: { description: 'Stored.', content: json(uploadPartSchema) }, ...uploadFailures },
})

const partedFailures = failures(
  ...(['unauthenticated', 'forbidden', 'lease_lost', 'request_too_large', 'integrity_mismatch'] as const),
)

const partedCheckpointRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/checkpoint',
  access: { operator: 'worker' },
  timeoutMs: uploadTimeoutMs,
  subject: 'job',
  summary: 'Store a checkpoint of a run from its parts',
  description: 'As `PUT`, for a checkpoint whose parts were uploaded before.',
  request: { params: runParams, body: { required: true, content: json(checkpointPartsRequestSchema) } },
  responses: { 200: goesOn, ...partedFailures },
})

const partedAgentRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/agent',
  access: { operator: 'worker' },
  timeoutMs: uploadTimeoutMs,
  subject: 'job',
  summary: "Store a run's agent from its parts",
  description: 'As `PUT`, for an agent whose parts were uploaded before.',
  request: { params: runParams, body: { required: true, content: json(agentPartsRequestSchema) } },
  responses: { 200: { description: 'Taken.', content: json(agentUploadSchema) }, ...partedFailures },
})

const trajectoriesRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/trajectories',
  access: { operator: 'worker' },
  bodyLimit: 16 * 2 ** 20,
  subject: 'job',
  summary: 'Store sampled trajectories of a run',
  request: { params: runParams, body: { required: true, content: json(trajectoriesRequestSchema) } },
  responses: { 204: { description: 'Taken.' }, ...writeFailures },
})

const episodeRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/episodes',
  access: { operator: 'worker' },
  // The episode, and what is said about it.
  bodyLimit: sampleEpisodeLimits.bytes + 1_024,
  subject: 'job',
  summary: 'Store an episode sampled during training',
  description:
    'The first episode of a held-out evaluation, or of a run without evaluations, of at most 64 KiB. A run keeps 12, spread evenly over its steps; the first and the latest are always kept.',
  request: { params: runParams, body: { required: true, content: json(runEpisodeRequestSchema) } },
  responses: { 204: { description: 'Taken.' }, ...failures('request_too_large'), ...writeFailures },
})

const agentRoute = defineRoute({
  method: 'put',
  path: '/v1/jobs/{id}/agent',
  access: { operator: 'worker' },
  bodyLimit: ({ limits }) => limits.tarballBytes,
  timeoutMs: uploadTimeoutMs,
  subject: 'job',
  summary: "Store a run's agent",
  description: 'The package, as made by `npm pack`. Send the returned integrity with the outcome.',
  request: { params: runParams, headers: leaseHeadersSchema, body: { required: true, content: bytes } },
  responses: { 200: { description: 'Taken.', content: json(agentUploadSchema) }, ...uploadFailures },
})

const outcomeRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/outcome',
  access: { operator: 'worker' },
  subject: 'job',
  summary: 'End a run',
  description: 'Accepted once. Repeating the request returns the same response.',
  request: { params: runParams, body: { required: true, content: json(outcomeRequestSchema) } },
  responses: {
    200: { description: 'It has ended.', content: json(outcomeResultSchema) },
    ...writeFailures,
  },
})

const scenarioRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/scenario',
  // The lease is the credential.
  access: 'anyone',
  subject: 'job',
  summary: 'The scenario that a run trains on',
  description: 'The lease in the header grants access to this tarball while it is active.',
  request: { params: runParams, headers: leaseHeadersSchema },
  responses: {
    200: { description: 'The tarball.', content: leasedFile },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

const parentRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/parent',
  // The lease is the credential.
  access: 'anyone',
  subject: 'job',
  summary: 'The agent that a run starts from',
  description: 'As the scenario: the lease in the header grants access to this tarball while it is active.',
  request: { params: runParams, headers: leaseHeadersSchema },
  responses: {
    200: { description: 'The tarball.', content: leasedFile },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

const readCheckpointRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/checkpoint',
  // The lease is the credential.
  access: 'anyone',
  subject: 'job',
  summary: 'The checkpoint that a run continues from',
  request: { params: runParams, headers: leaseHeadersSchema, query: checkpointDownloadQuerySchema },
  responses: {
    200: { description: 'Its bytes.', content: leasedFile },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

/** Worker endpoints of training runs. */
export function trainingJobRoutes(services: RunServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database } = services
  const attemptOf = (c: RequestReader, lease: string): Attempt => {
    requireWorker(c.get('actor'), 'train')
    return services.queue.attemptOf('train', c.req.param('id') ?? '', lease)
  }
  routes.openapi(progressRoute, async (c) => {
    const { lease, usage, ...progress } = c.req.valid('json')
    const attempt = attemptOf(c, lease)
    const stop = await recordProgress(services, attempt, progress)
    await noteUsage(database.query, attempt.workerId, usage)
    return c.json({ expires_at: leaseEnd(), stop }, 200)
  })
  routes.openapi(
    checkpointRoute,
    async (c) => {
      const attempt = attemptOf(c, c.req.valid('header')['agentgym-lease'])
      const stop = await storeCheckpoint(services, attempt, c.req.valid('query'), c.req.raw)
      return c.json({ expires_at: leaseEnd(), stop }, 200)
    },
    refuseOldWorkers,
  )
  routes.openapi(
    partRoute,
    async (c) => {
      const attempt = attemptOf(c, c.req.valid('header')['agentgym-lease'])
      return c.json({ sha256: await storePart(services, attempt, c.req.raw) }, 200)
    },
    refuseOldWorkers,
  )
  routes.openapi(partedCheckpointRoute, async (c) => {
    const { lease, parts, ...checkpoint } = c.req.valid('json')
    const stop = await storeCheckpoint(services, attemptOf(c, lease), checkpoint, parts)
    return c.json({ expires_at: leaseEnd(), stop }, 200)
  })
  routes.openapi(partedAgentRoute, async (c) => {
    const { lease, parts } = c.req.valid('json')
    return c.json({ integrity: await storeAgent(services, attemptOf(c, lease), parts) }, 200)
  })
  routes.openapi(trajectoriesRoute, async (c) => {
    const { lease, trajectories } = c.req.valid('json')
    await storeTrajectories(services, attemptOf(c, lease), trajectories)
    return c.body(null, 204)
  })
  routes.openapi(episodeRoute, async (c) => {
    const { lease, ...episode } = c.req.valid('json')
    await storeEpisode(services, attemptOf(c, lease), episode)
    return c.body(null, 204)
  })
  routes.openapi(
    agentRoute,
    async (c) => {
      const attempt = attemptOf(c, c.req.valid('header')['agentgym-lease'])
      return c.json({ integrity: await storeAgent(services, attempt, c.req.raw) }, 200)
    },
    refuseOldWorkers,
  )
  routes.openapi(outcomeRoute, async (c) => {
    const { lease, outcome, metered_ms: meteredMs } = c.req.valid('json')
    return c.json({ state: await finishRun(services, attemptOf(c, lease), { outcome, meteredMs }) }, 200)
  })
  const tarball = (what: 'scenario' | 'parent') => async (c: Context<Env>) => {
    const lease = leaseHeadersSchema.parse(c.req.header())['agentgym-lease']
    return sendLeased(c, await openLeasedTarball(services, c.req.param('id') ?? '', lease, what))
  }
  routes.openapi(scenarioRoute, tarball('scenario'), refuseOldWorkers)
  routes.openapi(parentRoute, tarball('parent'), refuseOldWorkers)
  routes.openapi(
    readCheckpointRoute,
    async (c) => {
      const lease = c.req.valid('header')['agentgym-lease']
      const { iteration } = c.req.valid('query')
      return sendLeased(c, await openLeasedCheckpoint(services, c.req.valid('param').id, lease, iteration))
    },
    refuseOldWorkers,
  )
  return routes
}
