import {
  AgentGymError,
  accountSchema,
  changePasswordRequestSchema,
  ownAccountSchema,
  signUpRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { organizationsOf } from '../../core/access/memberships.store.ts'
import { isLocalRequest } from '../../core/http/client-address.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { countUnread } from '../notifications/index.ts'
import { type Account, findAccountById } from './accounts.store.ts'
import { auditRoutes } from './audit.routes.ts'
import { deviceCodeRoutes } from './device-codes.routes.ts'
import { devicePageRoutes } from './device-page.routes.ts'
import { emailChangeRoutes } from './email-change.routes.ts'
import { invitationRoutes } from './invitations.routes.ts'
import { changePassword } from './log-in.ts'
import { mailLinkRoutes, mailPageRoutes } from './mail-links.routes.ts'
import { oauthRoutes } from './oauth.routes.ts'
import { oauthProviders, type Providers } from './oauth-log-in.ts'
import { operatorRoutes } from './operators.routes.ts'
import { organizationRoutes } from './organizations.routes.ts'
import { secondFactorRoutes } from './second-factor.routes.ts'
import { securityKeyRoutes } from './security-keys.routes.ts'
import { sessionRoutes } from './sessions.routes.ts'
import { signOnRoutes } from './sign-on.routes.ts'
import type { ResolveTxt } from './sign-on-providers.ts'
import { sendVerification, signUp } from './sign-up.ts'
import { tokenRoutes } from './tokens.routes.ts'

const signUpRoute = defineRoute({
  method: 'post',
  path: '/v1/accounts',
  access: 'anyone',
  // Each sign-up costs a password hash and uses a name permanently.
  rateLimit: { name: 'sign-up', per: 'network', limit: 100, windowSeconds: 3_600 },
  summary: 'Sign up',
  request: { body: { required: true, content: { 'application/json': { schema: signUpRequestSchema } } } },
  responses: {
    201: { description: 'The account.', content: { 'application/json': { schema: accountSchema } } },
    ...failures('name_invalid', 'name_taken', 'email_taken', 'rate_limited'),
  },
})

const showRoute = defineRoute({
  method: 'get',
  path: '/v1/account',
  access: 'account',
  summary: 'Get the authenticated account',
  responses: {
    200: {
      description: 'The authenticated account.',
      content: { 'application/json': { schema: ownAccountSchema } },
    },
    ...failures('unauthenticated'),
  },
})

const changePasswordRoute = defineRoute({
  method: 'put',
  path: '/v1/account/password',
  access: 'account:manage',
  // A stolen session must not allow guessing the password.
  rateLimit: { name: 'change-password', per: 'account', limit: 10, windowSeconds: 15 * 60 },
  summary: 'Change the password',
  description: 'Ends all sessions of the account; the response sets the cookie of a new one.',
  request: { body: { required: true, content: { 'application/json': { schema: changePasswordRequestSchema } } } },
  responses: {
    204: { description: 'The password was changed.' },
    ...failures('unauthenticated', 'forbidden', 'credentials_invalid', 'rate_limited'),
  },
})

const verificationMailRoute = defineRoute({
  method: 'post',
  path: '/v1/account/verification-mail',
  access: 'account:manage',
  rateLimit: { name: 'verification-mail', per: 'account', limit: 5, windowSeconds: 3_600 },
  summary: 'Resend the verification email',
  responses: {
    202: { description: 'The email was sent, unless the address is already verified.' },
    ...failures('unauthenticated', 'forbidden', 'rate_limited'),
  },
})

/** Sign-up, and the caller's own account. */
function ownAccountRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(signUpRoute, async (c) => {
    const local = isLocalRequest(c)
    const account = await signUp(services, { ...c.req.valid('json'), ip: c.get('ip'), local })
    return c.json(shown(account, account.operator), 201)
  })

  routes.openapi(showRoute, async (c) => {
    const actor = c.get('actor')
    const account = await ownAccount(services, actor.accountId)
    const organisations = await organizationsOf(database.query, account.id)
    const unread_notifications = await countUnread(database.query, account.id)
    const shownAccount = shown(account, actor.operator)
    return c.json({ ...shownAccount, organisations, scopes: [...actor.scopes], unread_notifications }, 200)
  })

  routes.openapi(changePasswordRoute, async (c) => {
    const actor = c.get('actor')
    const { cookie } = await changePassword(services, actor, { ...c.req.valid('json'), ip: c.get('ip') })
    if (cookie !== null) c.header('set-cookie', cookie)
    return c.body(null, 204)
  })

  routes.openapi(verificationMailRoute, async (c) => {
    const actor = c.get('actor')
    const account = await ownAccount(services, actor.accountId)
    if (account.email_verified_at === null) sendVerification(services, account)
    return c.body(null, 202)
  })

  return routes
}

async function ownAccount({ database }: Services, id: string): Promise<Account> {
  const account = await findAccountById(database.query, id)
  if (account !== undefined) return account
  throw new AgentGymError({ code: 'unauthenticated', message: 'The account no longer exists.' })
}

function shown({ username, kind, email, email_verified_at }: Account, operator: boolean) {
  return { username, kind, email, email_verified: email_verified_at !== null, operator }
}

/**
 * Every route about accounts; mount it behind `authenticate`. `providers`: other login providers. `resolveTxt`: looks
 * up TXT records.
 */
export function accountRoutes(
  services: Services,
  providers: Providers = oauthProviders(services.config),
  resolveTxt?: ResolveTxt,
): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.route('/', ownAccountRoutes(services))
  routes.route('/', sessionRoutes(services))
  routes.route('/', secondFactorRoutes(services))
  routes.route('/', securityKeyRoutes(services))
  routes.route('/', tokenRoutes(services))
  routes.route('/', organizationRoutes(services))
  routes.route('/', invitationRoutes(services))
  routes.route('/', operatorRoutes(services))
  routes.route('/', mailLinkRoutes(services))
  routes.route('/', emailChangeRoutes(services))
  routes.route('/', deviceCodeRoutes(services))
  routes.route('/', oauthRoutes(services, providers))
  routes.route('/', devicePageRoutes(services, Object.keys(providers)))
  routes.route('/', mailPageRoutes(services))
  routes.route('/', signOnRoutes(services, resolveTxt))
  routes.route('/', auditRoutes(services))
  return routes
}
