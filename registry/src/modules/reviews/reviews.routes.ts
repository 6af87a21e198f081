import {
  putReviewRequestSchema,
  replyRequestSchema,
  reviewListRequestSchema,
  reviewListSchema,
  reviewSchema,
} from '@agentgym/contract'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Actor } from '../../core/access/authorize.ts'
import { endByCreation, readPage } from '../../core/database/page-cursor.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { findReadablePackage, type PackageServices } from '../packages/index.ts'
import { readRating } from './ratings.ts'
import { listHiddenReviews, listReviews, reviewOf } from './reviews.store.ts'
import { deleteReview, putReview, replyToReview } from './write-review.ts'

const packageParams = z.object({
  scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
  name: z.string().openapi({ example: 'cart-pole' }),
})
const reviewParams = z.object({ id: z.uuid() })
const path = '/v1/packages/{scope}/{name}/reviews'

const listRoute = defineRoute({
  method: 'get',
  path,
  access: 'anyone',
  summary: 'Reviews and rating of a package',
  description: 'Newest first. The rating counts the newest vote of each person who still has access to the package.',
  request: { params: packageParams, query: reviewListRequestSchema },
  responses: {
    200: { description: 'One page.', content: json(reviewListSchema) },
    ...failures('package_not_found'),
  },
})

const putRoute = defineRoute({
  method: 'put',
  path,
  access: 'market:buy',
  rateLimit: { name: 'review', per: 'account', limit: 50, windowSeconds: 86_400 },
  summary: 'Review a version, or change your review of it',
  description:
    'For buyers, individually or through an organization; for free packages, users who downloaded it or trained on it.',
  request: { params: packageParams, body: { required: true, content: json(putReviewRequestSchema) } },
  responses: {
    200: { description: 'Your review.', content: json(reviewSchema) },
    ...failures(
      'unauthenticated',
      'forbidden',
      'review_not_allowed',
      'package_not_found',
      'version_not_found',
      'rate_limited',
    ),
  },
})

const deleteRoute = defineRoute({
  method: 'delete',
  path: '/v1/reviews/{id}',
  access: 'market:buy',
  summary: 'Delete your review',
  request: { params: reviewParams },
  responses: {
    204: { description: 'Done.' },
    ...failures('unauthenticated', 'forbidden', 'review_not_found'),
  },
})

const replyRoute = defineRoute({
  method: 'put',
  path: '/v1/reviews/{id}/reply',
  access: 'market:sell',
  summary: 'Reply to a review as the seller',
  request: { params: reviewParams, body: { required: true, content: json(replyRequestSchema) } },
  responses: {
    200: { description: 'The review with the reply.', content: json(reviewSchema) },
    ...failures('unauthenticated', 'forbidden', 'review_not_found'),
  },
})

const deleteReplyRoute = defineRoute({
  method: 'delete',
  path: '/v1/reviews/{id}/reply',
  access: 'market:sell',
  summary: 'Delete the reply to a review',
  request: { params: reviewParams },
  responses: {
    204: { description: 'Done.' },
    ...failures('unauthenticated', 'forbidden', 'review_not_found'),
  },
})

export function reviewRoutes(services: PackageServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(listRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    return c.json(await reviewsPage(services, c.get('actor'), `${scope}/${name}`, c.req.valid('query')), 200)
  })
  routes.openapi(putRoute, async (c) => {
    const { scope, name } = c.req.valid('param')
    const writing = { actor: c.get('actor'), ip: c.get('ip') }
    return c.json(await putReview(services, writing, { name: `${scope}/${name}`, ...c.req.valid('json') }), 200)
  })
  routes.openapi(deleteRoute, async (c) => {
    await deleteReview(services, { actor: c.get('actor'), ip: c.get('ip') }, c.req.valid('param').id)
    return c.body(null, 204)
  })
  routes.openapi(replyRoute, async (c) => {
    const { id } = c.req.valid('param')
    const { text } = c.req.valid('json')
    return c.json(await replyToReview(services, { actor: c.get('actor'), id, text, ip: c.get('ip') }), 200)
  })
  routes.openapi(deleteReplyRoute, async (c) => {
    const { id } = c.req.valid('param')
    await replyToReview(services, { actor: c.get('actor'), id, text: null, ip: c.get('ip') })
    return c.body(null, 204)
  })
  return routes
}

async function reviewsPage(
  { database, config }: Services,
  actor: Actor | null,
  name: string,
  { cursor, limit }: z.output<typeof reviewListRequestSchema>,
): Promise<z.infer<typeof reviewListSchema>> {
  const { query } = database
  const found = await findReadablePackage(query, actor, name)
  const listKey = JSON.stringify(['reviews', found.name])
  const rating = await readRating(query, found.id)
  const { rows, next_cursor } = await readPage(
    { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
    (range) => listReviews(query, found.id, range),
  )
  return {
    rating: { mean: rating.mean, score: rating.score, votes: rating.votes, by_stars: [...rating.byStars] },
    reviews: rows.map(reviewOf),
    own_hidden: await listHiddenReviews(query, actor, found.id),
    next_cursor,
  }
}
