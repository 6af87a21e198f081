import {
  AgentGymError,
  accountSchema,
  changePasswordRequestSchema,
  ownAccountSchema,
  signUpRequestSchema,
} from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { requireActor, unauthenticated } from '../../core/access/authorise.ts'
import { organisationsOf } from '../../core/access/memberships.store.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { createRoutes } from '../../core/http/create-routes.ts'
import type { Env } from '../../core/http/env.ts'
import { failures } from '../../core/http/failures.ts'
import type { Services } from '../../core/services.ts'
import { sendVerification } from './account-mail.ts'
import { type Account, findAccountById } from './accounts.store.ts'
import { changePassword } from './change-password.ts'
import { signUp } from './sign-up.ts'

const signUpRoute = createRoute({
  method: 'post',
  path: '/v1/accounts',
  summary: 'Sign up',
  request: { body: { required: true, content: { 'application/json': { schema: signUpRequestSchema } } } },
  responses: {
    201: { description: 'The account.', content: { 'application/json': { schema: accountSchema } } },
    ...failures('name_invalid', 'name_taken', 'email_taken', 'rate_limited'),
  },
})

const showRoute = createRoute({
  method: 'get',
  path: '/v1/account',
  summary: 'Who am I',
  responses: {
    200: {
      description: 'Whoever the token or session belongs to.',
      content: { 'application/json': { schema: ownAccountSchema } },
    },
    ...failures('unauthenticated'),
  },
})

const changePasswordRoute = createRoute({
  method: 'put',
  path: '/v1/account/password',
  summary: 'Change the password',
  description: 'Ends every session of the account; the answer sets the cookie of a new one.',
  request: { body: { required: true, content: { 'application/json': { schema: changePasswordRequestSchema } } } },
  responses: {
    204: { description: 'The password is changed.' },
    ...failures('unauthenticated', 'forbidden', 'credentials_invalid', 'rate_limited'),
  },
})

const verificationMailRoute = createRoute({
  method: 'post',
  path: '/v1/account/verification-mail',
  summary: 'Send the mail that confirms the address again',
  responses: {
    202: { description: 'On its way, unless the address is confirmed already.' },
    ...failures('unauthenticated', 'forbidden', 'rate_limited'),
  },
})

/** The account of whoever asks, and how one gets it. */
export function ownAccountRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(signUpRoute, async (c) => {
    const account = await signUp(services, { ...c.req.valid('json'), ip: c.get('ip') })
    return c.json(shown(account, account.operator), 201)
  })

  routes.openapi(showRoute, async (c) => {
    const actor = c.get('actor')
    if (actor === null) throw unauthenticated()
    const account = await ownAccount(services, actor.accountId)
    const organisations = await organisationsOf(database.query, account.id)
    return c.json({ ...shown(account, actor.operator), organisations, scopes: [...actor.scopes] }, 200)
  })

  routes.openapi(changePasswordRoute, async (c) => {
    const actor = requireActor(c.get('actor'), 'account:manage')
    const { cookie } = await changePassword(services, actor, { ...c.req.valid('json'), ip: c.get('ip') })
    if (cookie !== null) c.header('set-cookie', cookie)
    return c.body(null, 204)
  })

  routes.openapi(verificationMailRoute, async (c) => {
    const actor = requireActor(c.get('actor'), 'account:manage')
    await limitRate(database, `verification-mail:${actor.accountId}`, { limit: 5, windowSeconds: 3_600 })
    const account = await ownAccount(services, actor.accountId)
    if (account.email_verified_at === null) sendVerification(services, account)
    return c.body(null, 202)
  })

  return routes
}

async function ownAccount({ database }: Services, id: string): Promise<Account> {
  const account = await findAccountById(database.query, id)
  if (account !== undefined) return account
  throw new AgentGymError({ code: 'unauthenticated', message: 'The account is gone.' })
}

function shown({ username, kind, email, email_verified_at }: Account, operator: boolean) {
  return { username, kind, email, email_verified: email_verified_at !== null, operator }
}
