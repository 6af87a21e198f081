import { AgentGymError, createdTokenSchema, createTokenRequestSchema, tokenListSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { requireActor } from '../../core/access/authorise.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  createToken,
  daysFromNow,
  defaultTokenDays,
  listTokens,
  requireGrantable,
  requireUncapped,
  revokeToken,
  type StoredToken,
} from './tokens.store.ts'

const createTokenRoute = defineRoute({
  method: 'post',
  path: '/v1/tokens',
  access: 'account:manage',
  rateLimit: { name: 'create-token', per: 'account', limit: 200, windowSeconds: 3_600 },
  summary: 'Make a token',
  description: 'The token is shown only once. A token can create other tokens, but only with scopes of its own.',
  request: { body: { required: true, content: { 'application/json': { schema: createTokenRequestSchema } } } },
  responses: {
    201: { description: 'The token.', content: { 'application/json': { schema: createdTokenSchema } } },
    ...failures('unauthenticated', 'forbidden', 'rate_limited'),
  },
})

const listTokensRoute = defineRoute({
  method: 'get',
  path: '/v1/tokens',
  access: 'account:manage',
  summary: 'List tokens',
  responses: {
    200: { description: 'Tokens that are not revoked.', content: { 'application/json': { schema: tokenListSchema } } },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const revokeTokenRoute = defineRoute({
  method: 'delete',
  path: '/v1/tokens/{id}',
  access: 'account',
  summary: 'Revoke a token',
  request: { params: z.object({ id: z.uuid() }) },
  responses: {
    204: { description: 'The token is revoked.' },
    ...failures('unauthenticated', 'forbidden', 'token_not_found'),
  },
})

export function tokenRoutes({ database }: Services): OpenAPIHono<Env> {
  const routes = createRoutes()

  routes.openapi(createTokenRoute, async (c) => {
    const actor = c.get('actor')
    const { name, scopes, expires_in_days: days = defaultTokenDays } = c.req.valid('json')
    requireGrantable(actor, scopes)
    const token = await database.transaction(async (query) => {
      await requireUncapped(query, actor)
      const made = await createToken(query, { accountId: actor.accountId, name, scopes, expiresAt: daysFromNow(days) })
      await recordAudit(query, {
        actor,
        action: 'token.create',
        subject: `token:${made.id}`,
        ip: c.get('ip'),
        data: { name, scopes: made.scopes },
      })
      return made
    })
    return c.json({ ...shownToken(token), token: token.token }, 201)
  })

  routes.openapi(listTokensRoute, async (c) => {
    const actor = c.get('actor')
    const tokens = await listTokens(database.query, actor.accountId)
    return c.json({ tokens: tokens.map(shownToken) }, 200)
  })

  routes.openapi(revokeTokenRoute, async (c) => {
    const actor = c.get('actor')
    const { id } = c.req.valid('param')
    // A token may always revoke itself, as `agentgym logout` does.
    const { accountId } = actor.tokenId === id ? actor : requireActor(actor, 'account:manage')
    await database.transaction(async (query) => {
      if (!(await revokeToken(query, accountId, id)))
        throw new AgentGymError({ code: 'token_not_found', message: `You have no token ${id}.`, data: { id } })
      await recordAudit(query, { actor, action: 'token.revoke', subject: `token:${id}`, ip: c.get('ip') })
    })
    return c.body(null, 204)
  })

  return routes
}

export function shownToken({ id, name, prefix, scopes, ...times }: StoredToken) {
  return {
    id,
    name,
    prefix,
    scopes,
    expires_at: times.expires_at?.toISOString() ?? null,
    last_used_at: times.last_used_at?.toISOString() ?? null,
    created_at: times.created_at.toISOString(),
  }
}
