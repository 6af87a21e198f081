import {
  appealRequestSchema,
  createReportRequestSchema,
  decideReportRequestSchema,
  moderationSchema,
  reportListRequestSchema,
  reportListSchema,
  reportSchema,
  restoreRequestSchema,
  takeDownRequestSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Actor } from '../../core/access/authorize.ts'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Env, RequestReader } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { appealHiddenReview, appealRemovedEpisode, appealTakeDown } from './appeals.ts'
import { listReports, reportOf } from './reports.store.ts'
import { createReport, decideReport } from './reports.ts'
import { restorePackage, showModeration, takeDownPackage } from './take-down.ts'

const body = <Schema extends z.ZodType>(schema: Schema) => ({ body: { required: true, content: json(schema) } })
const params = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})
const base = '/v1/packages/{scope}/{name}'
const moderated = { description: 'The current state.', content: json(moderationSchema) }
const ownParams = z.object({ id: z.uuid() })
const appealRate = { name: 'appeal', per: 'account', limit: 10, windowSeconds: 86_400 } as const
const refusals = ['unauthenticated', 'forbidden', 'package_not_found'] as const

const createReportRoute = defineRoute({
  method: 'post',
  path: '/v1/reports',
  access: 'packages:read',
  rateLimit: { name: 'report', per: 'account', limit: 30, windowSeconds: 86_400 },
  summary: 'Report a package or a review to the operators',
  request: body(createReportRequestSchema),
  responses: {
    200: { description: 'Your earlier report, which is still open.', content: json(reportSchema) },
    201: { description: 'The report.', content: json(reportSchema) },
    ...failures(...refusals, 'review_not_found', 'rate_limited'),
  },
})

const reportsRoute = defineRoute({
  method: 'get',
  path: '/v1/reports',
  access: { operator: 'packages:manage' },
  summary: 'List reports and appeals (operators)',
  description: 'Oldest first.',
  request: { query: reportListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(reportListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const decideRoute = defineRoute({
  method: 'post',
  path: '/v1/reports/{id}/decision',
  access: { operator: 'packages:manage' },
  summary: 'Decide a report (operators)',
  description:
    'Upholding hides the review or takes the package down; if it is malicious, for everyone and with refunds. Upholding an appeal restores what it is about.',
  request: { params: z.object({ id: z.uuid() }), ...body(decideReportRequestSchema) },
  responses: {
    200: { description: 'The report.', content: json(reportSchema) },
    ...failures('unauthenticated', 'forbidden', 'report_not_found', 'moderation_state_conflict'),
  },
})

const takeDownRoute = defineRoute({
  method: 'post',
  path: `${base}/take-down`,
  access: { operator: 'packages:manage' },
  summary: 'Take a package down (operators)',
  description: 'It can no longer be found, bought or installed. Buyers keep it, unless `for_all` is set.',
  request: { params, ...body(takeDownRequestSchema) },
  responses: { 200: moderated, ...failures(...refusals) },
})

const restoreRoute = defineRoute({
  method: 'post',
  path: `${base}/restore`,
  access: { operator: 'packages:manage' },
  summary: 'Restore a package (operators)',
  request: { params, ...body(restoreRequestSchema) },
  responses: { 200: moderated, ...failures(...refusals) },
})

const appealRoute = defineRoute({
  method: 'post',
  path: `${base}/appeals`,
  access: 'packages:manage',
  rateLimit: appealRate,
  summary: 'Appeal a take-down',
  description:
    'Once for each decision, as with the other appeals. Operators answer with a reason, which is sent to you.',
  request: { params, ...body(appealRequestSchema) },
  responses: { 200: moderated, ...failures(...refusals, 'moderation_state_conflict', 'rate_limited') },
})

const appealReviewRoute = defineRoute({
  method: 'post',
  path: '/v1/reviews/{id}/appeals',
  access: 'market:buy',
  rateLimit: appealRate,
  operationId: 'appealHiddenReview',
  summary: 'Appeal that your review was hidden',
  request: { params: ownParams, ...body(appealRequestSchema) },
  responses: {
    201: { description: 'The appeal.', content: json(reportSchema) },
    ...failures('unauthenticated', 'forbidden', 'review_not_found', 'moderation_state_conflict', 'rate_limited'),
  },
})

const appealEpisodeRoute = defineRoute({
  method: 'post',
  path: '/v1/demonstrations/{id}/appeals',
  access: 'training:evaluate',
  rateLimit: appealRate,
  operationId: 'appealRemovedEpisode',
  summary: 'Appeal that an episode that you kept was removed',
  request: { params: ownParams, ...body(appealRequestSchema) },
  responses: {
    201: { description: 'The appeal.', content: json(reportSchema) },
    ...failures('unauthenticated', 'forbidden', 'demonstration_not_found', 'moderation_state_conflict', 'rate_limited'),
  },
})

const moderationRoute = defineRoute({
  method: 'get',
  path: `${base}/moderation`,
  access: 'packages:read',
  summary: 'Moderation history of a package',
  description: 'For members of its account, and for operators.',
  request: { params },
  responses: { 200: moderated, ...failures(...refusals) },
})

export function moderationRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  const { database } = services
  routes.openapi(createReportRoute, async (c) => {
    const reporting = { actor: c.get('actor'), ip: c.get('ip'), request: c.req.valid('json') }
    const { report, isNew } = await createReport(services, reporting)
    return isNew ? c.json(report, 201) : c.json(report, 200)
  })
  routes.openapi(reportsRoute, async (c) => c.json(await reportsPage(services, c.req.valid('query')), 200))
  routes.openapi(decideRoute, async (c) => {
    const deciding = { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id }
    return c.json(await decideReport(services, deciding, c.req.valid('json')), 200)
  })
  routes.openapi(takeDownRoute, async (c) =>
    c.json(await takeDownPackage(services, moderating(c), c.req.valid('json')), 200),
  )
  routes.openapi(restoreRoute, async (c) =>
    c.json(await restorePackage(services, moderating(c), c.req.valid('json')), 200),
  )
  routes.openapi(appealRoute, async (c) =>
    c.json(await appealTakeDown(services, moderating(c), c.req.valid('json')), 200),
  )
  routes.openapi(appealReviewRoute, async (c) => {
    const appealing = { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id }
    return c.json(await appealHiddenReview(services, appealing, c.req.valid('json')), 201)
  })
  routes.openapi(appealEpisodeRoute, async (c) => {
    const appealing = { actor: c.get('actor'), ip: c.get('ip'), id: c.req.valid('param').id }
    return c.json(await appealRemovedEpisode(services, appealing, c.req.valid('json')), 201)
  })
  routes.openapi(moderationRoute, async (c) => {
    const { actor, name } = moderating(c)
    return c.json(await showModeration(database.query, actor, name), 200)
  })
  return routes
}

function moderating(c: RequestReader): { actor: Actor | null; name: string; ip: string } {
  return { actor: c.get('actor'), name: `${c.req.param('scope')}/${c.req.param('name')}`, ip: c.get('ip') }
}

async function reportsPage(
  { database, config }: Services,
  { state, cursor, limit }: z.output<typeof reportListRequestSchema>,
): Promise<z.infer<typeof reportListSchema>> {
  const listKey = JSON.stringify(['reports', state])
  const { rows, next_cursor } = await readPage(
    { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
    (range) => listReports(database.query, { state, ...range }),
  )
  return {
    reports: rows.map(reportOf),
    next_cursor,
  }
}
