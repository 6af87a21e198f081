import { jobResultRequestSchema, jobResultSchema, leaseHeadersSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireWorker } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { leasedFile, sendLeased } from '../../core/http/leased-file.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import type { Services } from '../../core/services.ts'
import { finishCheck, openLeasedPrevious, openLeasedTarball } from './check-jobs.ts'

const jobParams = z.object({ id: z.uuid() })

const resultRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/result',
  access: { operator: 'worker' },
  subject: 'job',
  summary: 'Report the result of a check',
  request: { params: jobParams, body: { required: true, content: json(jobResultRequestSchema) } },
  responses: {
    200: { description: 'Accepted.', content: json(jobResultSchema) },
    ...failures('unauthenticated', 'forbidden', 'lease_lost'),
  },
})

const tarballRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/tarball',
  access: 'anyone',
  subject: 'job',
  summary: 'The tarball to check',
  description: 'The lease in the header grants access to this tarball while it is active.',
  request: { params: jobParams, headers: leaseHeadersSchema },
  responses: {
    200: {
      description: 'The tarball.',
      content: leasedFile,
    },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

const previousRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/previous',
  access: 'anyone',
  subject: 'job',
  summary: 'The tarball of the version that a patch release follows',
  description: 'The lease in the header grants access to this tarball while it is active.',
  request: { params: jobParams, headers: leaseHeadersSchema },
  responses: {
    200: {
      description: 'The tarball.',
      content: leasedFile,
    },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

/** Worker endpoints for checks. */
export function checkJobRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(resultRoute, async (c) => {
    requireWorker(c.get('actor'), 'check')
    const { queue } = services
    const { lease, report, sample_episode: sample } = c.req.valid('json')
    const attempt = queue.attemptOf('check', c.req.valid('param').id, lease)
    return c.json({ state: await finishCheck(services, attempt, report, sample) }, 200)
  })
  routes.openapi(
    tarballRoute,
    async (c) => {
      const lease = c.req.valid('header')['agentgym-lease']
      return sendLeased(c, await openLeasedTarball(services, c.req.valid('param').id, lease))
    },
    refuseOldWorkers,
  )
  routes.openapi(
    previousRoute,
    async (c) => {
      const lease = c.req.valid('header')['agentgym-lease']
      return sendLeased(c, await openLeasedPrevious(services, c.req.valid('param').id, lease))
    },
    refuseOldWorkers,
  )
  return routes
}
