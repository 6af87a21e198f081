import { requestPasswordResetSchema, resetPasswordRequestSchema, verifyEmailRequestSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { sendPasswordReset } from './account-mail.ts'
import { resetPassword } from './change-password.ts'
import { verifyEmail } from './verify-email.ts'

const verifyRoute = defineRoute({
  method: 'post',
  path: '/v1/email-verifications',
  access: 'anyone',
  summary: 'Confirm an e-mail address',
  description: 'With what the mailed link holds as `token`.',
  request: { body: { required: true, content: { 'application/json': { schema: verifyEmailRequestSchema } } } },
  responses: {
    204: { description: 'The address is confirmed.' },
    ...failures('link_invalid', 'rate_limited'),
  },
})

const requestResetRoute = defineRoute({
  method: 'post',
  path: '/v1/password-resets',
  access: 'anyone',
  summary: 'Ask for a new password by mail',
  description: 'The answer is the same whether an account has the address or not.',
  request: { body: { required: true, content: { 'application/json': { schema: requestPasswordResetSchema } } } },
  responses: {
    202: { description: 'If an account has the address, a mail is on its way.' },
    ...failures('rate_limited'),
  },
})

const resetRoute = defineRoute({
  method: 'put',
  path: '/v1/password-resets/{token}',
  access: 'anyone',
  summary: 'Set a new password',
  description: 'With what the mailed link holds as `token`. Ends every session of the account.',
  request: {
    params: z.object({ token: z.string().max(100) }),
    body: { required: true, content: { 'application/json': { schema: resetPasswordRequestSchema } } },
  },
  responses: {
    204: { description: 'The password is set: log in with it.' },
    ...failures('link_invalid', 'rate_limited'),
  },
})

/** What the links in mails lead to. */
export function mailLinkRoutes(services: Services): OpenAPIHono<Env> {
  const { database } = services
  const routes = createRoutes()

  routes.openapi(verifyRoute, async (c) => {
    await verifyEmail(services, { token: c.req.valid('json').token, ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(requestResetRoute, async (c) => {
    const email = c.req.valid('json').email.toLowerCase()
    await limitRate(database, `request-reset:${clientNetwork(c.get('ip'))}`, { limit: 30, windowSeconds: 3_600 })
    // Also for addresses that nobody has, or the limit would tell.
    await limitRate(database, `request-reset:${email}`, { limit: 5, windowSeconds: 3_600 })
    sendPasswordReset(services, email, c.get('ip'))
    return c.body(null, 202)
  })

  routes.openapi(resetRoute, async (c) => {
    const { token } = c.req.valid('param')
    await resetPassword(services, { token, password: c.req.valid('json').password, ip: c.get('ip') })
    return c.body(null, 204)
  })

  return routes
}
