import { evaluationResultRequestSchema, leaseHeadersSchema } from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireWorker } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { leasedFile, sendLeased } from '../../core/http/leased-file.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import type { Services } from '../../core/services.ts'
import { finishEvaluation, openEvaluationTarball } from './evaluate-jobs.ts'

const jobParams = z.object({ id: z.uuid() })

const resultRoute = defineRoute({
  method: 'post',
  path: '/v1/jobs/{id}/evaluation',
  access: { operator: 'worker' },
  subject: 'job',
  summary: 'Report the result of an evaluation',
  request: { params: jobParams, body: { required: true, content: json(evaluationResultRequestSchema) } },
  responses: { 204: { description: 'Taken.' }, ...failures('unauthenticated', 'forbidden', 'lease_lost') },
})

const tarballRoute = defineRoute({
  method: 'get',
  path: '/v1/jobs/{id}/evaluation/{what}',
  // The lease is the credential.
  access: 'anyone',
  subject: 'job',
  summary: "The tarball of an evaluation's agent or scenario",
  description: 'The lease in the header grants access to these tarballs while it is active.',
  request: {
    params: jobParams.extend({ what: z.enum(['agent', 'scenario']) }),
    headers: leaseHeadersSchema,
  },
  responses: {
    200: {
      description: 'The tarball.',
      content: leasedFile,
    },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

/** Worker endpoints for evaluations. */
export function evaluateJobRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(resultRoute, async (c) => {
    const { accountId } = requireWorker(c.get('actor'), 'evaluate')
    const { queue } = services
    const { lease, ...result } = c.req.valid('json')
    await finishEvaluation(services, queue.attemptOf('evaluate', c.req.valid('param').id, lease), result, accountId)
    return c.body(null, 204)
  })
  routes.openapi(
    tarballRoute,
    async (c) => {
      const { id, what } = c.req.valid('param')
      return sendLeased(c, await openEvaluationTarball(services, id, c.req.valid('header')['agentgym-lease'], what))
    },
    refuseOldWorkers,
  )
  return routes
}
