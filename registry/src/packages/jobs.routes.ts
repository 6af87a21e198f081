import { Readable } from 'node:stream'
import {
  heartbeatRequestSchema,
  heartbeatSchema,
  jobResultRequestSchema,
  jobResultSchema,
  leasedJobSchema,
  leaseRequestSchema,
} from '@agentgym/contract'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireOperator } from '../auth/authorise.ts'
import { createRoutes } from '../server/create-routes.ts'
import type { Env } from '../server/env.ts'
import { failures } from '../server/failures.ts'
import type { Services } from '../server/services.ts'
import { finishCheck } from './finish-check.ts'
import { jobQueue } from './job-queue.ts'
import { leaseCheck, openLeasedTarball } from './lease-check.ts'

const jobParams = z.object({ id: z.uuid() })
const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': { schema } })

const leaseRoute = createRoute({
  method: 'post',
  path: '/v1/jobs/lease',
  summary: 'Lease a job',
  description:
    'For workers: a token with the scope `worker`. The lease holds until `expires_at`; each heartbeat prolongs it. A worker that goes silent loses the job to the next one.',
  request: { body: { required: true, content: json(leaseRequestSchema) } },
  responses: {
    200: { description: 'A job.', content: json(leasedJobSchema) },
    204: { description: 'There is nothing to do.' },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const heartbeatRoute = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/heartbeat',
  summary: 'Keep a lease',
  request: { params: jobParams, body: { required: true, content: json(heartbeatRequestSchema) } },
  responses: {
    200: { description: 'The lease goes on.', content: json(heartbeatSchema) },
    ...failures('unauthenticated', 'forbidden', 'lease_lost'),
  },
})

const resultRoute = createRoute({
  method: 'post',
  path: '/v1/jobs/{id}/result',
  summary: 'Give the result of a job',
  request: { params: jobParams, body: { required: true, content: json(jobResultRequestSchema) } },
  responses: {
    200: { description: 'Taken.', content: json(jobResultSchema) },
    ...failures('unauthenticated', 'forbidden', 'lease_lost'),
  },
})

const tarballRoute = createRoute({
  method: 'get',
  path: '/v1/jobs/{id}/tarball',
  summary: 'The tarball that a job is about',
  description: 'The lease in the query is the permission: it is good for this tarball and as long as the lease holds.',
  request: { params: jobParams, query: z.object({ lease: z.string().min(1).max(200) }) },
  responses: {
    200: {
      description: 'The tarball.',
      content: { 'application/octet-stream': { schema: z.any().openapi({ type: 'string', format: 'binary' }) } },
    },
    ...failures('lease_lost'),
  },
})

/** What workers ask. They have no database and no keys: a token, and what a lease lets them read. */
export function jobRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(leaseRoute, async (c) => {
    requireOperator(c.get('actor'), 'worker')
    const job = await leaseCheck(services)
    return job === undefined ? c.body(null, 204) : c.json(job, 200)
  })
  routes.openapi(heartbeatRoute, async (c) => {
    requireOperator(c.get('actor'), 'worker')
    const queue = await jobQueue(services)
    const attempt = queue.attemptOf(c.req.valid('param').id, c.req.valid('json').lease)
    return c.json({ expires_at: (await queue.heartbeat(attempt)).toISOString() }, 200)
  })
  routes.openapi(resultRoute, async (c) => {
    requireOperator(c.get('actor'), 'worker')
    const queue = await jobQueue(services)
    const { lease, report } = c.req.valid('json')
    const attempt = queue.attemptOf(c.req.valid('param').id, lease)
    return c.json({ state: await finishCheck(services, attempt, report) }, 200)
  })
  routes.openapi(tarballRoute, async (c) => {
    const { body, size } = await openLeasedTarball(services, c.req.valid('param').id, c.req.valid('query').lease)
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(size),
      'cache-control': 'no-store',
    }
    return c.body(Readable.toWeb(body) as ReadableStream, 200, headers)
  })
  return routes
}
