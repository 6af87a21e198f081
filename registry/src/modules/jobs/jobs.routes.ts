import {
  type GangSeat,
  heartbeatRequestSchema,
  heartbeatSchema,
  leaseRequestSchema,
  leaseResponseSchema,
  queueHistoryRequestSchema,
  queueHistorySchema,
  releaseRequestSchema,
  workerHeadersSchema,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireWorker, requireWorkerName } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import type { Seat } from '../../core/queue/gang-seats.ts'
import type { JobHandler } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { leaseEnd, leaseJob, releaseJob } from './lease-jobs.ts'
import { readQueueHistory } from './queue-history.ts'
import { noteUsage } from './workers.store.ts'

const jobParams = z.object({ id: z.uuid() })

const leaseRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/lease',
  access: { operator: 'worker' },
  unlogged: 'when_empty',
  summary: 'Lease a job',
  description:
    'Requires a token with the scope `worker`. The lease lasts until `expires_at`; each heartbeat extends it. If a worker stops sending heartbeats, another worker can lease the job.',
  request: { headers: workerHeadersSchema, body: { required: true, content: json(leaseRequestSchema) } },
  responses: {
    200: {
      description:
        'A job; or a seat in a run of several workers, which is kept by asking for the training of that run until all have come.',
      content: json(leaseResponseSchema),
    },
    204: { description: 'No job is waiting.' },
    ...failures('unauthenticated', 'forbidden', 'worker_incompatible'),
  },
})

const heartbeatRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/heartbeat',
  access: { operator: 'worker' },
  unlogged: 'on_success',
  subject: 'job',
  summary: 'Keep a lease',
  request: { params: jobParams, body: { required: true, content: json(heartbeatRequestSchema) } },
  responses: {
    200: { description: 'The lease was extended.', content: json(heartbeatSchema) },
    ...failures('unauthenticated', 'forbidden', 'lease_lost'),
  },
})

const releaseRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/release',
  access: { operator: 'worker' },
  subject: 'job',
  summary: 'Release a job',
  description:
    'The job is immediately available to other workers, and the attempt is not counted. For workers that shut down.',
  request: { params: jobParams, body: { required: true, content: json(releaseRequestSchema) } },
  responses: {
    204: { description: 'The job is waiting for another worker.' },
    ...failures('unauthenticated', 'forbidden', 'lease_lost'),
  },
})

const historyRoute = defineRoute({
  method: 'get',
  path: '/v1/queue-history',
  access: { operator: 'training:view' },
  summary: 'History of the queue and the workers (operators)',
  description: 'Sampled each minute and kept for a week. Each point has the largest values of its interval.',
  request: { query: queueHistoryRequestSchema },
  responses: {
    200: { description: 'Oldest first.', content: json(queueHistorySchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

function seatOf({ id, ...seats }: Seat): GangSeat {
  return { run: id, ...seats }
}

/**
 * The endpoints that every worker calls. Workers have no access to the database or to keys: only a token, and what
 * their leases cover.
 */
export function jobRoutes(services: Services, handlers: JobHandler[]): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database } = services
  const handlerOf = (kind: string) => handlers.find((handler) => handler.kind === kind)
  routes.openapi(
    leaseRoute,
    async (c) => {
      const request = c.req.valid('json')
      const actor = requireWorker(c.get('actor'), ...request.kinds)
      requireWorkerName(actor, request.worker?.name)
      c.header(workerProtocolHeader, workerProtocol)
      let seat: Seat | undefined
      const onSeat = (given: Seat) => {
        seat = given
      }
      const job = await leaseJob(services, handlers, { ...request, owner: actor.accountId, onSeat })
      if (seat !== undefined) return c.json({ seat: seatOf(seat) }, 200)
      if (job === undefined) return c.body(null, 204)
      c.set('jobId', job.id)
      services.log.info('job leased', { job_id: job.id, kind: job.kind, worker: request.worker?.name })
      return c.json(job, 200)
    },
    refuseOldWorkers,
  )
  routes.openapi(historyRoute, async (c) =>
    c.json(await readQueueHistory(database.query, c.req.valid('query').window), 200),
  )
  routes.openapi(heartbeatRoute, async (c) => {
    const { queue } = services
    const { lease, usage } = c.req.valid('json')
    const attempt = queue.anyAttemptOf(c.req.valid('param').id, lease)
    requireWorker(c.get('actor'), attempt.kind)
    const answer = await database.transaction(async (query) => {
      await queue.hold(query, attempt)
      return handlerOf(attempt.kind)?.heartbeat?.(query, attempt)
    })
    await noteUsage(database.query, attempt.workerId, usage)
    return c.json({ expires_at: leaseEnd(), stop: answer?.stop ?? null }, 200)
  })
  routes.openapi(releaseRoute, async (c) => {
    const { lease, metered_ms: meteredMs, ...ending } = c.req.valid('json')
    const { id } = c.req.valid('param')
    requireWorker(c.get('actor'), services.queue.anyAttemptOf(id, lease).kind)
    await releaseJob(services, handlers, { id, lease, meteredMs, ...ending })
    return c.body(null, 204)
  })
  return routes
}
