import {
  accountListRequestSchema,
  accountListSchema,
  claimRequestSchema,
  disableAccountRequestSchema,
  signOutRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { requireSession } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { claimBySecret } from './claim.ts'
import {
  addOperator,
  disableAccount,
  enableAccount,
  type ListedAccount,
  listAccounts,
  removeOperator,
  signOutEverywhere,
} from './operators.ts'

const operator = { operator: 'account:manage' } as const
const params = z.object({ username: z.string().max(100) })
const refusals = failures('unauthenticated', 'forbidden', 'account_not_found')
const keepsOne = failures('unauthenticated', 'forbidden', 'account_not_found', 'last_operator')

const claimRoute = defineRoute({
  method: 'put',
  path: '/v1/account/operator',
  access: 'account:manage',
  // One attempt per minute is enough: the secret is long, and used only once.
  rateLimit: { name: 'claim', per: 'network', limit: 15, windowSeconds: 15 * 60 },
  operationId: 'claimServer',
  summary: 'Become the operator of a new server',
  description: 'Requires a session and the set-up secret. Works while the server has no operator.',
  request: { body: { required: true, content: json(claimRequestSchema) } },
  responses: {
    204: { description: 'The account is an operator.' },
    ...failures('unauthenticated', 'forbidden', 'credentials_invalid', 'rate_limited'),
  },
})

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/accounts',
  access: operator,
  operationId: 'listAccounts',
  summary: 'List accounts, for operators',
  request: { query: accountListRequestSchema },
  responses: {
    200: { description: 'One page, by name.', content: json(accountListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

const addRoute = defineRoute({
  method: 'put',
  path: '/v1/accounts/{username}/operator',
  access: operator,
  operationId: 'addOperator',
  summary: 'Make a user an operator',
  description: 'Requires a session; tokens cannot add operators.',
  request: { params },
  responses: { 204: { description: 'The user is an operator.' }, ...refusals },
})

const removeRoute = defineRoute({
  method: 'delete',
  path: '/v1/accounts/{username}/operator',
  access: operator,
  operationId: 'removeOperator',
  summary: 'Demote an operator',
  description: 'Worker tokens of the account stop working.',
  request: { params },
  responses: { 204: { description: 'The user is not an operator.' }, ...keepsOne },
})

const disableRoute = defineRoute({
  method: 'put',
  path: '/v1/accounts/{username}/disabled',
  access: operator,
  operationId: 'disableAccount',
  summary: 'Disable an account',
  description:
    'The user cannot log in, sessions end, and tokens are refused until the account is enabled. Packages, orders and balances are unchanged.',
  request: { params, body: { required: true, content: json(disableAccountRequestSchema) } },
  responses: { 204: { description: 'The account is disabled.' }, ...keepsOne },
})

const enableRoute = defineRoute({
  method: 'delete',
  path: '/v1/accounts/{username}/disabled',
  access: operator,
  operationId: 'enableAccount',
  summary: 'Enable an account',
  description: 'Tokens that were not revoked work again. Ended sessions are not restored.',
  request: { params },
  responses: { 204: { description: 'The account is enabled.' }, ...refusals },
})

const signOutRoute = defineRoute({
  method: 'post',
  path: '/v1/accounts/{username}/sign-out',
  access: operator,
  operationId: 'signOutAccount',
  summary: 'Sign a user out everywhere',
  description: 'Ends every session, and revokes every token unless `tokens` is false.',
  request: { params, body: { required: true, content: json(signOutRequestSchema) } },
  responses: { 204: { description: 'The user is signed out.' }, ...refusals },
})

const signOutSelfRoute = defineRoute({
  method: 'post',
  path: '/v1/account/sign-out',
  access: 'account:manage',
  operationId: 'signOut',
  summary: 'Sign out everywhere',
  description:
    'Ends every session of the account, including this one, and revokes every token unless `tokens` is false.',
  request: { body: { required: true, content: json(signOutRequestSchema) } },
  responses: { 204: { description: 'Signed out.' }, ...failures('unauthenticated', 'forbidden') },
})

/** Claiming a server, and account management by operators. */
export function operatorRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(claimRoute, async (c) => {
    const actor = requireSession(c.get('actor'))
    await claimBySecret(services, actor, { secret: c.req.valid('json').setup_secret, ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(listRoute, async (c) => {
    const { limit, operators, ...wanted } = c.req.valid('query')
    const asked = { ...wanted, operators: operators === 'true', limit: limit + 1 }
    const found = await listAccounts(database.query, asked)
    const page = found.slice(0, limit)
    return c.json(
      { accounts: page.map(shown), next_after: found.length > limit ? page[limit - 1].username : null },
      200,
    )
  })

  routes.openapi(addRoute, async (c) => {
    const actor = requireSession(c.get('actor'))
    await addOperator(database, actor, { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(removeRoute, async (c) => {
    await removeOperator(database, c.get('actor'), { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(disableRoute, async (c) => {
    const { reason } = c.req.valid('json')
    await disableAccount(services, c.get('actor'), { ...c.req.valid('param'), reason, ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(enableRoute, async (c) => {
    await enableAccount(services, c.get('actor'), { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(signOutRoute, async (c) => {
    const { tokens = true } = c.req.valid('json')
    await signOutEverywhere(services, c.get('actor'), { ...c.req.valid('param'), tokens, ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(signOutSelfRoute, async (c) => {
    const { tokens = true } = c.req.valid('json')
    const actor = c.get('actor')
    await signOutEverywhere(services, actor, { username: actor.username, tokens, ip: c.get('ip') })
    return c.body(null, 204)
  })

  return routes
}

function shown({ email_verified_at, disabled_at, disabled_reason, created_at, ...account }: ListedAccount) {
  return {
    ...account,
    email_verified: email_verified_at !== null,
    disabled: disabled_at === null ? null : { at: disabled_at.toISOString(), reason: disabled_reason ?? '' },
    created_at: created_at.toISOString(),
  }
}
