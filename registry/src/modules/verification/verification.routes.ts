import {
  agentComparisonRequestSchema,
  agentComparisonSchema,
  clearedSchema,
  evaluationJobSchema,
  leaderboardRequestSchema,
  leaderboardSchema,
  seasonListSchema,
  seasonsRequestSchema,
  signingKeysSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { currentTraceparent } from '../../core/http/request-context.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { listSeasons } from '../evaluations/index.ts'
import { compareAgents } from './compare-agents.ts'
import { leaderboard } from './leaderboard.ts'
import { clearNondeterministic } from './nondeterministic-scenarios.ts'
import { requestVerification } from './request-verification.ts'
import { listSigningKeys } from './signing-keys.ts'
import { releaseHold } from './worker-holds.ts'

const keysRoute = defineRoute({
  method: 'get',
  path: '/v1/keys',
  access: 'anyone',
  summary: 'Public keys of signed statements',
  description:
    'Ed25519. Check a statement with the key it names, using only OpenSSL: `openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in statement.json -sigfile signature.bin`.',
  responses: {
    200: { description: 'All keys that have signed statements, newest first.', content: json(signingKeysSchema) },
    ...failures(),
  },
})

const seasonsRoute = defineRoute({
  method: 'get',
  path: '/v1/seasons',
  access: 'anyone',
  summary: 'Seasons of held-out episodes',
  description:
    'All agents of a scenario are evaluated on the same held-out episodes during a season. `commitment` is the SHA-256 of the secret; `secret` is published when the season ends. The seed of a scenario is the first 53 bits, big-endian, of HMAC-SHA256 with the secret over the hash of the scenario (lower-case hex).',
  request: { query: seasonsRequestSchema },
  responses: {
    200: { description: 'Newest first.', content: json(seasonListSchema) },
    ...failures(),
  },
})

const leaderboardRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/versions/{version}/leaderboard',
  access: 'anyone',
  summary: 'Verified agents of a scenario version, best first',
  request: {
    params: z.object({
      scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
      name: z.string().openapi({ example: 'cart-pole' }),
      version: z.string().openapi({ example: '1.0.0' }),
    }),
    query: leaderboardRequestSchema,
  },
  responses: {
    200: {
      description: 'Ranked by the return on held-out episodes; one entry per package.',
      content: json(leaderboardSchema),
    },
    ...failures('package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

const comparisonRoute = defineRoute({
  method: 'get',
  path: '/v1/packages/{scope}/{name}/versions/{version}/comparison',
  access: 'anyone',
  operationId: 'compareAgents',
  summary: 'Compare verified agents of a scenario version, episode by episode',
  description:
    'All agents of a season play the same held-out episodes, so their returns are compared episode by episode. The season and its seed are not part of the response.',
  request: { params: leaderboardRoute.request.params, query: agentComparisonRequestSchema },
  responses: {
    200: { description: 'The agents, and their differences from the first.', content: json(agentComparisonSchema) },
    ...failures('request_invalid', 'package_not_found', 'package_taken_down', 'version_not_found'),
  },
})

const verifyRoute = defineRoute({
  method: 'post',
  path: '/v1/packages/{scope}/{name}/versions/{version}/verification',
  access: 'training:evaluate',
  summary: 'Verify an agent on the marketplace',
  description:
    'For its members, buyers and operators. Runs the agent again and stores the result as the verification of the version. If it does not match the claims, buyers are refunded. If a verification is already in progress, it is returned.',
  request: {
    params: z.object({
      scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
      name: z.string().openapi({ example: 'cart-pole-ppo' }),
      version: z.string().openapi({ example: '1.0.0' }),
    }),
  },
  responses: {
    202: { description: 'Queued for a worker.', content: json(evaluationJobSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'package_not_found',
      'version_not_found',
      'version_not_published',
      'rate_limited',
    ),
  },
})

const clearRoute = defineRoute({
  method: 'delete',
  path: '/v1/packages/{scope}/{name}/versions/{version}/nondeterministic',
  access: { operator: 'account:manage' },
  operationId: 'clearNondeterministic',
  summary: 'Clear the nondeterministic mark of a scenario version, for operators',
  description:
    'A version is marked if the same actions gave different results; agents are not verified on it. Clear the mark once you know that a worker was at fault. Affected agents are verified again when workers are idle.',
  request: {
    params: z.object({
      scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
      name: z.string().openapi({ example: 'cart-pole' }),
      version: z.string().openapi({ example: '1.0.0' }),
    }),
  },
  responses: {
    200: { description: 'Whether the version was marked.', content: json(clearedSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'second_factor_required',
      'package_not_found',
      'package_taken_down',
      'version_not_found',
    ),
  },
})

const releaseRoute = defineRoute({
  method: 'post',
  path: '/v1/worker-holds/{id}/release',
  access: { operator: 'account:manage' },
  summary: 'Release a worker',
  description:
    'A worker whose results other workers contradict is held back: it gets no evaluations. `GET /v1/status` lists these workers. Release a worker once it is repaired.',
  request: { params: z.object({ id: z.uuid() }) },
  responses: {
    204: { description: 'The worker can lease evaluations again.' },
    ...failures('unauthenticated', 'forbidden', 'worker_hold_not_found'),
  },
})

/** Routes about verified agents. */
export function verificationRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()
  routes.openapi(keysRoute, async (c) => c.json(await listSigningKeys(database.query), 200))
  routes.openapi(seasonsRoute, async (c) => c.json(await listSeasons(services, c.req.valid('query')), 200))
  routes.openapi(leaderboardRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const requested = { actor: c.get('actor'), name: `${scope}/${name}`, version, ...c.req.valid('query') }
    return c.json(await leaderboard(database.query, requested), 200)
  })
  routes.openapi(comparisonRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const agents = [...new Set(c.req.valid('query').agents.split(','))]
    const requested = { actor: c.get('actor'), name: `${scope}/${name}`, version, agents }
    return c.json(await compareAgents(database.query, requested), 200)
  })
  routes.openapi(verifyRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const requested = { actor: c.get('actor'), name: `${scope}/${name}`, version, ip: c.get('ip') }
    return c.json(await requestVerification(services, { ...requested, traceparent: currentTraceparent(c) }), 202)
  })
  routes.openapi(releaseRoute, async (c) => {
    await releaseHold(services, { actor: c.get('actor'), id: c.req.valid('param').id, ip: c.get('ip') })
    return c.body(null, 204)
  })
  routes.openapi(clearRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const cleared = { actor: c.get('actor'), name: `${scope}/${name}`, version, ip: c.get('ip') }
    return c.json({ cleared: await clearNondeterministic(services, cleared) }, 200)
  })
  return routes
}
