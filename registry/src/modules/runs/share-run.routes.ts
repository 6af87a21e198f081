import {
  runLinkSchema,
  runSharingRequestSchema,
  runSharingSchema,
  sampleEpisodeSchema,
  sharedRunHeadersSchema,
  sharedRunSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { episodeDescription, iterationParams, requestOf, runCodes, runParams } from './route-parts.ts'
import type { RunServices } from './run-services.ts'
import { createLink, readShared, readSharedEpisode, readSharing, revokeLink, setPublic } from './share-run.ts'

const scopes = 'Requires the scopes `training:view` and `packages:publish`.'

const sharingRoute = defineRoute({
  method: 'get',
  path: '/v1/runs/{id}/sharing',
  access: 'training:view',
  subject: 'run',
  operationId: 'getRunSharing',
  summary: 'Who else may look at a run',
  request: { params: runParams },
  responses: {
    200: { description: 'Whether it is public, and its link.', content: json(runSharingSchema) },
    ...failures(...runCodes),
  },
})

const publicRoute = defineRoute({
  method: 'put',
  path: '/v1/runs/{id}/sharing',
  access: 'packages:publish',
  subject: 'run',
  operationId: 'setRunSharing',
  summary: 'Make a run public, or private again',
  description: `Everyone can look at a public run: its title, settings, metrics and evaluations. ${scopes}`,
  request: { params: runParams, body: { required: true, content: json(runSharingRequestSchema) } },
  responses: {
    200: { description: 'Who may look at it now.', content: json(runSharingSchema) },
    ...failures(...runCodes),
  },
})

const linkRoute = defineRoute({
  method: 'post',
  path: '/v1/runs/{id}/link',
  access: 'packages:publish',
  subject: 'run',
  operationId: 'createRunLink',
  summary: 'Create a link to a run',
  description: `Everyone who has the link can look at the run, without an account. It replaces the link before. ${scopes}`,
  request: { params: runParams },
  responses: {
    201: { description: 'The link. Its address is shown once.', content: json(runLinkSchema) },
    ...failures(...runCodes),
  },
})

const revokeRoute = defineRoute({
  method: 'delete',
  path: '/v1/runs/{id}/link',
  access: 'packages:publish',
  subject: 'run',
  operationId: 'revokeRunLink',
  summary: 'Revoke the link to a run',
  description: `Repeating the request changes nothing. ${scopes}`,
  request: { params: runParams },
  responses: {
    200: { description: 'Who may look at it now.', content: json(runSharingSchema) },
    ...failures(...runCodes),
  },
})

const sharedRoute = defineRoute({
  method: 'get',
  path: '/v1/runs/{id}/shared',
  access: 'anyone',
  subject: 'run',
  operationId: 'getSharedRun',
  summary: 'Get a run that is public or shared by link',
  description: 'Its settings, metrics, evaluations and sampled episodes; nothing of its account, cost or worker.',
  request: { params: runParams, headers: sharedRunHeadersSchema },
  responses: { 200: { description: 'The run.', content: json(sharedRunSchema) }, ...failures('run_not_found') },
})

const sharedEpisodeRoute = defineRoute({
  method: 'get',
  path: '/v1/runs/{id}/shared/episodes/{iteration}',
  access: 'anyone',
  subject: 'run',
  operationId: 'getSharedRunEpisode',
  summary: 'An episode of a run that is public or shared by link',
  description: `Runs on scenarios that are not public show none. ${episodeDescription}`,
  request: { params: iterationParams, headers: sharedRunHeadersSchema },
  responses: {
    200: { description: 'The episode, for pictures.', content: json(sampleEpisodeSchema) },
    ...failures('run_not_found', 'run_episode_not_found'),
  },
})

/** Looking at runs of others. */
export function shareRunRoutes(services: RunServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(sharingRoute, async (c) => {
    return c.json(await readSharing(services, { actor: c.get('actor'), runId: c.req.valid('param').id }), 200)
  })
  routes.openapi(publicRoute, async (c) => {
    const { public: isPublic } = c.req.valid('json')
    return c.json(await setPublic(services, { ...requestOf(c), runId: c.req.valid('param').id, isPublic }), 200)
  })
  routes.openapi(linkRoute, async (c) => {
    return c.json(await createLink(services, { ...requestOf(c), runId: c.req.valid('param').id }), 201)
  })
  routes.openapi(revokeRoute, async (c) => {
    return c.json(await revokeLink(services, { ...requestOf(c), runId: c.req.valid('param').id }), 200)
  })
  routes.openapi(sharedRoute, async (c) => {
    const secret = c.req.valid('header')['agentgym-link']
    return c.json(await readShared(services, { runId: c.req.valid('param').id, secret }), 200)
  })
  routes.openapi(sharedEpisodeRoute, async (c) => {
    const { id: runId, iteration } = c.req.valid('param')
    const secret = c.req.valid('header')['agentgym-link']
    return c.json(await readSharedEpisode(services, { runId, secret, iteration }), 200, { 'cache-control': 'no-store' })
  })
  return routes
}
