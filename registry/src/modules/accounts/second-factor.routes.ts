import {
  beginSecondFactorRequestSchema,
  recoveryCodesSchema,
  secondFactorCodeSchema,
  secondFactorSchema,
  secondFactorSecretSchema,
  sessionSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { unauthenticated } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  beginSecondFactor,
  enableSecondFactor,
  notify,
  removeSecondFactor,
  replaceRecoveryCodes,
  resetSecondFactor,
  showSecondFactor,
} from './second-factor-setup.ts'
import { enterCode } from './start-session.ts'

const path = '/v1/account/second-factor'
const refusals = ['unauthenticated', 'forbidden'] as const

const showRoute = defineRoute({
  method: 'get',
  path,
  access: 'account:manage',
  operationId: 'getSecondFactor',
  summary: 'Get the state of your second factor',
  responses: { 200: { description: 'The state.', content: json(secondFactorSchema) }, ...failures(...refusals) },
})

const beginRoute = defineRoute({
  method: 'post',
  path,
  access: 'account:manage',
  // A stolen session must not allow guessing the password.
  rateLimit: { name: 'begin-second-factor', per: 'account', limit: 10, windowSeconds: 15 * 60 },
  operationId: 'beginSecondFactor',
  summary: 'Start setting up a second factor',
  description:
    'Returns a secret for an authenticator app (TOTP). It takes effect once you send a code from the app with `PUT`. Requires a session, and `current_password` if the account has a password.',
  request: { body: { required: true, content: json(beginSecondFactorRequestSchema) } },
  responses: {
    200: { description: 'The secret, shown once.', content: json(secondFactorSecretSchema) },
    ...failures(...refusals, 'credentials_invalid', 'second_factor_conflict', 'rate_limited'),
  },
})

const enableRoute = defineRoute({
  method: 'put',
  path,
  access: 'account:manage',
  operationId: 'enableSecondFactor',
  summary: 'Enable the second factor',
  description: 'Requires a session. Returns ten recovery codes. Each can be used once instead of a code from the app.',
  request: { body: { required: true, content: json(secondFactorCodeSchema) } },
  responses: {
    200: { description: 'The recovery codes, shown once.', content: json(recoveryCodesSchema) },
    ...failures(...refusals, 'second_factor_invalid', 'second_factor_conflict', 'rate_limited'),
  },
})

const removeRoute = defineRoute({
  method: 'delete',
  path,
  access: 'account:manage',
  secondFactor: true,
  operationId: 'removeSecondFactor',
  summary: 'Remove your second factor',
  description: 'Requires a session that has confirmed the second factor.',
  responses: {
    204: { description: 'Removed.' },
    ...failures(...refusals, 'second_factor_required', 'second_factor_conflict'),
  },
})

const replaceRoute = defineRoute({
  method: 'post',
  path: `${path}/recovery-codes`,
  access: 'account:manage',
  secondFactor: true,
  operationId: 'replaceRecoveryCodes',
  summary: 'Replace your recovery codes',
  description: 'Requires a session that has confirmed the second factor.',
  responses: {
    200: { description: 'The new codes, shown once.', content: json(recoveryCodesSchema) },
    ...failures(...refusals, 'second_factor_required', 'second_factor_conflict'),
  },
})

const confirmRoute = defineRoute({
  method: 'post',
  path: '/v1/sessions/current/second-factor',
  access: 'anyone',
  operationId: 'confirmSession',
  summary: 'Enter a code of the second factor',
  description:
    'Completes a login that returned `second_factor_required`, or confirms the session for 30 minutes. Requires the session cookie and sets a new one.',
  request: { body: { required: true, content: json(secondFactorCodeSchema) } },
  responses: {
    200: { description: 'Confirmed.', content: json(sessionSchema) },
    ...failures('unauthenticated', 'second_factor_invalid', 'second_factor_required', 'rate_limited'),
  },
})

const resetRoute = defineRoute({
  method: 'delete',
  path: '/v1/accounts/{username}/second-factor',
  access: { operator: 'account:manage' },
  operationId: 'resetSecondFactor',
  summary: 'Reset a user’s second factor, for operators',
  description:
    'Verify the user’s identity first. The user then logs in with the password alone. Sessions end; tokens remain valid.',
  request: { params: z.object({ username: z.string().max(100) }) },
  responses: {
    204: { description: 'The account has no second factor.' },
    ...failures(...refusals, 'second_factor_required', 'account_not_found'),
  },
})

/** Second factors: set-up, codes, and resets by operators. */
export function secondFactorRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(showRoute, async (c) => c.json(await showSecondFactor(services, c.get('actor')), 200))

  routes.openapi(beginRoute, async (c) => {
    const { current_password: password } = c.req.valid('json')
    return c.json(await beginSecondFactor(services, c.get('actor'), { password }), 200)
  })

  routes.openapi(enableRoute, async (c) => {
    const codes = await enableSecondFactor(services, c.get('actor'), { ...c.req.valid('json'), ip: c.get('ip') })
    return c.json({ recovery_codes: codes }, 200)
  })

  routes.openapi(removeRoute, async (c) => {
    await removeSecondFactor(services, c.get('actor'), c.get('ip'))
    return c.body(null, 204)
  })

  routes.openapi(replaceRoute, async (c) =>
    c.json({ recovery_codes: await replaceRecoveryCodes(services, c.get('actor'), c.get('ip')) }, 200),
  )

  routes.openapi(confirmRoute, async (c) => {
    const cookieHeader = c.get('actor')?.tokenId ? '' : (c.req.header('cookie') ?? '')
    const entered = { ...c.req.valid('json'), cookieHeader, ip: c.get('ip') }
    const session = await enterCode(services, entered)
    if (session === undefined) throw unauthenticated('There is no session to confirm, or it has expired. Log in again.')
    c.header('set-cookie', session.cookie)
    return c.json({ username: session.username }, 200)
  })

  routes.openapi(resetRoute, async (c) => {
    const { id } = await resetSecondFactor(database, c.get('actor'), {
      ...c.req.valid('param'),
      ip: c.get('ip'),
    })
    notify(services, id, 'The second factor of your AgentGym account was reset', [
      'an operator of the server has removed it. Log in with your password, and set up a new one.',
      'If you did not request this, contact the operator.',
    ])
    return c.body(null, 204)
  })

  return routes
}

/** The site's page that asks for the code of a login and then redirects to `returnTo`. */
export function codePagePath(returnTo: string): string {
  return `/login/code?next=${encodeURIComponent(returnTo)}`
}
