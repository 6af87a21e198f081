import { leaseHeadersSchema, replayResultRequestSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireWorker } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { leasedFile, sendLeased } from '../../core/http/leased-file.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import type { Services } from '../../core/services.ts'
import { finishReplay, openReplayTarball } from './replay-jobs.ts'

const jobParams = z.object({ id: z.uuid() })

const resultRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/replay',
  access: { operator: 'worker' },
  subject: 'job',
  summary: 'Report the result of a replay',
  request: { params: jobParams, body: { required: true, content: json(replayResultRequestSchema) } },
  responses: { 204: { description: 'Accepted.' }, ...failures('unauthenticated', 'forbidden', 'lease_lost') },
})

const tarballRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/replay/tarball',
  // The lease is the credential.
  access: 'anyone',
  subject: 'job',
  summary: "The tarball of a replay's scenario",
  description: 'The lease in the header grants access to this tarball while it is active.',
  request: { params: jobParams, headers: leaseHeadersSchema },
  responses: {
    200: { description: 'The tarball.', content: leasedFile },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

/** Worker endpoints for replays. */
export function replayJobRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(resultRoute, async (c) => {
    requireWorker(c.get('actor'), 'replay')
    const { lease, ...result } = c.req.valid('json')
    await finishReplay(services, services.queue.attemptOf('replay', c.req.valid('param').id, lease), result)
    return c.body(null, 204)
  })
  routes.openapi(
    tarballRoute,
    async (c) => {
      const lease = c.req.valid('header')['agentgym-lease']
      return sendLeased(c, await openReplayTarball(services, c.req.valid('param').id, lease))
    },
    refuseOldWorkers,
  )
  return routes
}
