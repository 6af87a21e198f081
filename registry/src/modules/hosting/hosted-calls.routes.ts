import {
  callAnswersRequestSchema,
  callAnswersTakenSchema,
  hostedCallHeadersSchema,
  hostedCallRequestSchema,
  hostedCallSchema,
  leaseCallsRequestSchema,
  leasedCallsSchema,
  leaseHeadersSchema,
  workerHeadersSchema,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import { requireWorker, requireWorkerName } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { leasedFile, sendLeased } from '../../core/http/leased-file.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { refuseOldWorkers } from '../../core/http/worker-protocol.ts'
import { answerCalls, leaseCalls, openLeasedAgent } from './answer-calls.ts'
import { callAgent } from './call-agent.ts'
import type { HostingServices } from './call-broker.ts'

/** Errors of a call, shared by both APIs. */
export const callFailures = failures(
  ...(['unauthenticated', 'forbidden', 'package_not_found', 'package_taken_down', 'version_not_found'] as const),
  ...(['version_not_published', 'version_yanked', 'payment_required', 'price_changed', 'trial_exhausted'] as const),
  ...(['insufficient_funds', 'spend_cap_exceeded', 'rate_limited', 'idempotency_key_reused'] as const),
  ...(['request_too_large', 'observation_invalid', 'mask_required', 'mask_invalid', 'no_legal_action'] as const),
  ...(['agent_failed', 'agent_unavailable'] as const),
)

const callRoute = defineRoute({
  method: 'post',
  path: '/v1/packages/{scope}/{name}/calls',
  access: 'agents:call',
  bodyLimit: 256 * 1024,
  timeoutMs: 45_000,
  operationId: 'callAgent',
  summary: 'Call a hosted agent',
  description:
    'Returns the action of the agent for an observation. For members of its account and buyers, during a free trial, or if the agent is free. Requires the scope `agents:call`. A worker runs the model; without a result in 30 s, the call fails with `agent_unavailable`. Failed calls cost nothing and do not count toward a trial.',
  request: {
    params: z.object({
      scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
      name: z.string().openapi({ example: 'cart-pole-ppo' }),
    }),
    headers: hostedCallHeadersSchema,
    body: { required: true, content: json(hostedCallRequestSchema) },
  },
  responses: {
    200: { description: 'The action of the agent.', content: json(hostedCallSchema) },
    ...callFailures,
  },
})

const leaseRoute = defineRoute({
  method: 'post',
  path: '/v1/hosted-calls/lease',
  access: { operator: 'worker' },
  unlogged: 'when_empty',
  summary: 'Lease calls of an agent',
  description:
    'Requires a token with the scope `worker`. Waits up to `wait_ms` for calls and returns up to 64 of one version. The lease lasts until `expires_at`; after that, another worker can lease them.',
  request: { headers: workerHeadersSchema, body: { required: true, content: json(leaseCallsRequestSchema) } },
  responses: {
    200: { description: 'Calls.', content: json(leasedCallsSchema) },
    204: { description: 'None came.' },
    ...failures('unauthenticated', 'forbidden', 'worker_incompatible'),
  },
})

const answersRoute = defineRoute({
  method: 'post',
  path: '/v1/hosted-calls/answers',
  access: { operator: 'worker' },
  bodyLimit: 16 * 2 ** 20,
  summary: 'Answer leased calls',
  description:
    'All or some of them. Answered calls are counted, failed ones are not. Calls whose lease has ended are reported as `late` and not changed.',
  request: { body: { required: true, content: json(callAnswersRequestSchema) } },
  responses: {
    200: { description: 'The number of calls accepted.', content: json(callAnswersTakenSchema) },
    ...failures('unauthenticated', 'forbidden', 'request_too_large'),
  },
})

const tarballRoute = defineRoute({
  method: 'get',
  path: '/v1/hosted-calls/tarballs/{id}',
  // The lease is the credential.
  access: 'anyone',
  summary: 'The tarball of an agent whose calls are leased',
  description: 'The lease in the header grants access to this version while it is active.',
  request: {
    params: z.object({ id: z.uuid() }),
    headers: leaseHeadersSchema,
  },
  responses: {
    200: { description: 'The tarball.', content: leasedFile },
    ...failures('lease_lost', 'worker_incompatible'),
  },
})

/** Calls of hosted agents: endpoints for callers, and for workers. */
export function hostedCallRoutes(services: HostingServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(callRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const { 'idempotency-key': key, 'agentgym-max-price': maxPrice } = c.req.valid('header')
    const request = c.req.valid('json')
    const maxPriceMinor = request.max_price_minor ?? maxPrice
    const call = { actor: c.get('actor'), name: `${scope}/${name}`, request, key, maxPriceMinor }
    return c.json(await callAgent(services, call, c.req.raw.signal), 200)
  })
  routes.openapi(
    leaseRoute,
    async (c) => {
      const { loaded, wait_ms: waitMs, worker_name: name } = c.req.valid('json')
      requireWorkerName(requireWorker(c.get('actor'), 'call'), name)
      const requested = { loaded: loaded.map((id) => id.toLowerCase()), waitMs }
      c.header(workerProtocolHeader, workerProtocol)
      const calls = await leaseCalls(services, requested, c.req.raw.signal)
      return calls === undefined ? c.body(null, 204) : c.json(calls, 200)
    },
    refuseOldWorkers,
  )
  routes.openapi(answersRoute, async (c) => {
    requireWorker(c.get('actor'), 'call')
    return c.json(await answerCalls(services, c.req.valid('json')), 200)
  })
  routes.openapi(
    tarballRoute,
    async (c) => {
      const { id } = c.req.valid('param')
      return sendLeased(c, await openLeasedAgent(services, { id, lease: c.req.valid('header')['agentgym-lease'] }))
    },
    refuseOldWorkers,
  )
  return routes
}
