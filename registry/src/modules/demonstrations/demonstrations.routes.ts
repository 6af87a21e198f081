import {
  keepEpisodeRequestSchema,
  keptEpisodeListSchema,
  keptEpisodeSchema,
  keptEpisodesRequestSchema,
  removeEpisodeRequestSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, file, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { demonstrationsFile, listEpisodes, ownEpisodeFile, removeEpisode } from './demonstrations.store.ts'
import { keepEpisode } from './keep-episode.ts'

const params = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
  version: z.string().openapi({ example: '1.0.0' }),
})
const episodeParams = z.object({ id: z.uuid() })
const path = '/v1/packages/{scope}/{name}/versions/{version}/demonstrations'
/** Not a literal type, because the library would treat it as JSON by its suffix. */
const ndjson: string = 'application/x-ndjson'
const hidden = ['package_not_found', 'package_taken_down', 'version_not_found'] as const

const listRoute = defineRoute({
  method: 'get',
  path,
  access: 'anyone',
  operationId: 'listKeptEpisodes',
  summary: 'What people reach on a scenario version, and the episodes you keep',
  description:
    '`people.return_mean` is the mean over people of each one’s mean return: an account counts once. Your own episodes are listed newest first.',
  request: { params, query: keptEpisodesRequestSchema },
  responses: {
    200: { description: 'The baseline, and your episodes.', content: json(keptEpisodeListSchema) },
    ...failures('unauthenticated', 'forbidden', ...hidden),
  },
})

const keepRoute = defineRoute({
  method: 'post',
  path,
  access: 'training:evaluate',
  rateLimit: { name: 'keep-episode', per: 'account', limit: 60, windowSeconds: 3_600 },
  bodyLimit: 768 * 1024,
  operationId: 'keepEpisode',
  summary: 'Keep an episode that you played',
  description:
    'For users who may download the scenario. Send the actions, not a score: a worker replays them in the sandbox and computes it. The episode then counts toward `people` on the leaderboard, and others can download it as a demonstration, without your name.',
  request: { params, body: { required: true, content: json(keepEpisodeRequestSchema) } },
  responses: {
    201: { description: 'Queued for a worker.', content: json(keptEpisodeSchema) },
    ...failures(
      ...(['unauthenticated', 'forbidden', ...hidden, 'version_not_published', 'payment_required'] as const),
      ...(['hosted_only', 'scenario_mismatch', 'demonstration_exists', 'rate_limited', 'request_too_large'] as const),
    ),
  },
})

const fileRoute = defineRoute({
  method: 'get',
  path: `${path}.jsonl`,
  access: 'anyone',
  operationId: 'downloadDemonstrations',
  summary: 'Download the episodes that people keep, as demonstrations',
  description:
    'For users who may download the scenario. The format of `agentgym play --record`: the first line names the scenario and the seed, each further line is an episode. At most 16 MiB, the episodes kept first.',
  request: { params },
  responses: {
    200: { description: 'One JSON value per line.', content: { [ndjson]: file } },
    ...failures(...hidden, 'payment_required', 'hosted_only', 'demonstration_not_found'),
  },
})

const episodeRoute = defineRoute({
  method: 'get',
  path: '/v1/demonstrations/{id}/episode.jsonl',
  access: 'packages:read',
  operationId: 'downloadKeptEpisode',
  summary: 'Download an episode that you keep, as a demonstration',
  request: { params: episodeParams },
  responses: {
    200: { description: 'Two lines of JSON.', content: { [ndjson]: file } },
    ...failures('unauthenticated', 'forbidden', 'demonstration_not_found'),
  },
})

const removeRoute = defineRoute({
  method: 'delete',
  path: '/v1/demonstrations/{id}',
  access: 'training:evaluate',
  operationId: 'removeKeptEpisode',
  summary: 'Remove an episode that you keep',
  request: { params: episodeParams },
  responses: {
    204: { description: 'Done.' },
    ...failures('unauthenticated', 'forbidden', 'demonstration_not_found'),
  },
})

const takeDownRoute = defineRoute({
  method: 'post',
  path: '/v1/demonstrations/{id}/removal',
  access: { operator: 'packages:manage' },
  operationId: 'takeDownKeptEpisode',
  summary: 'Remove an episode of another user (operators)',
  request: { params: episodeParams, body: { required: true, content: json(removeEpisodeRequestSchema) } },
  responses: {
    204: { description: 'Done.' },
    ...failures('unauthenticated', 'forbidden', 'second_factor_required', 'demonstration_not_found'),
  },
})

/** Episodes that people keep: stored, listed, downloaded, removed. */
export function demonstrationRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { query } = services.database
  routes.openapi(listRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const asked = { actor: c.get('actor'), name: `${scope}/${name}`, version }
    return c.json(await listEpisodes(services, asked, c.req.valid('query').of), 200)
  })
  routes.openapi(keepRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const keeping = { actor: c.get('actor'), ip: c.get('ip'), name: `${scope}/${name}`, version }
    return c.json(await keepEpisode(services, keeping, c.req.valid('json')), 201)
  })
  routes.openapi(fileRoute, async (c) => {
    const { scope, name, version } = c.req.valid('param')
    const text = await demonstrationsFile(services, { actor: c.get('actor'), name: `${scope}/${name}`, version })
    return c.body(text, 200, download(`${name}-${version}-people.jsonl`))
  })
  routes.openapi(episodeRoute, async (c) => {
    const { text, name } = await ownEpisodeFile(query, c.get('actor'), c.req.valid('param').id)
    return c.body(text, 200, download(name))
  })
  routes.openapi(removeRoute, async (c) => {
    await removeEpisode(services, { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id })
    return c.body(null, 204)
  })
  routes.openapi(takeDownRoute, async (c) => {
    const { reason } = c.req.valid('json')
    await removeEpisode(services, { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id, reason })
    return c.body(null, 204)
  })
  return routes
}

function download(name: string): Record<string, string> {
  return {
    'content-type': ndjson,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  }
}
