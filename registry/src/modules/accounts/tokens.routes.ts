import { AgentGymError, createdTokenSchema, createTokenRequestSchema, tokenListSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { requireActor } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  boundToParent,
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
  secondFactor: true,
  rateLimit: { name: 'create-token', per: 'account', limit: 200, windowSeconds: 3_600 },
  summary: 'Create a token',
  description:
    'The token is shown only once. A token can create other tokens, but only with scopes of its own and no later expiry; revoking it also revokes them. If the account has a second factor, it must be confirmed.',
  request: { body: { required: true, content: { 'application/json': { schema: createTokenRequestSchema } } } },
  responses: {
    201: { description: 'The token.', content: { 'application/json': { schema: createdTokenSchema } } },
    ...failures('unauthenticated', 'forbidden', 'second_factor_required', 'rate_limited'),
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
  summary: 'Revoke a token, and the tokens that it created',
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
    const { name, scopes, expires_in_days: days = defaultTokenDays, worker } = c.req.valid('json')
    requireGrantable(actor, scopes)
    if (worker !== undefined && !scopes.includes('worker')) throw workerScopeMissing()
    const binding = worker === undefined ? null : { kinds: worker.kinds ?? null, name: worker.name ?? null }
    const token = await database.transaction(async (query) => {
      await requireUncapped(query, actor)
      const wanted = { accountId: actor.accountId, name, scopes, expiresAt: daysFromNow(days), worker: binding }
      const bounded = await boundToParent(query, actor.tokenId, wanted)
      const made = await createToken(query, { ...bounded, parentId: actor.tokenId, confirmed: actor.factorConfirmed })
      await recordAudit(query, {
        actor,
        action: 'token.create',
        subject: `token:${made.id}`,
        ip: c.get('ip'),
        data: { name, scopes: made.scopes, ...(made.worker === null ? {} : { worker: made.worker }) },
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
      const revoked = await revokeToken(query, accountId, id)
      if (revoked.length === 0)
        throw new AgentGymError({ code: 'token_not_found', message: `You have no token ${id}.`, data: { id } })
      for (const one of revoked) {
        const data = one === id ? {} : { with: id }
        await recordAudit(query, { actor, action: 'token.revoke', subject: `token:${one}`, ip: c.get('ip'), data })
      }
    })
    return c.body(null, 204)
  })

  return routes
}

function workerScopeMissing(): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'Only tokens with the scope worker can be limited to kinds of jobs or to a worker.',
    hint: 'Add the scope worker, or omit the field "worker".',
    data: { field: 'worker' },
  })
}

export function shownToken({ id, name, prefix, scopes, parent_id, worker, ...times }: StoredToken) {
  return {
    id,
    name,
    prefix,
    scopes,
    parent_id,
    worker: worker === null ? null : { kinds: worker.kinds === null ? null : [...worker.kinds], name: worker.name },
    expires_at: times.expires_at?.toISOString() ?? null,
    last_used_at: times.last_used_at?.toISOString() ?? null,
    created_at: times.created_at.toISOString(),
  }
}
