import {
  changeEmailRequestSchema,
  emailChangeConfirmedSchema,
  emailChangeSchema,
  emailChangeStateSchema,
  setEmailRequestSchema,
  verifyEmailRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  cancelByLink,
  cancelEmailChange,
  confirmEmailChange,
  mailAfterSetting,
  requestEmailChange,
  setEmail,
  showEmailChange,
} from './email-change.ts'

const path = '/v1/account/email-change'
const refusals = ['unauthenticated', 'forbidden'] as const

const showRoute = defineRoute({
  method: 'get',
  path,
  access: 'account:manage',
  operationId: 'getEmailChange',
  summary: 'Get the pending change of your email address',
  responses: {
    200: { description: 'The change, or null.', content: json(emailChangeStateSchema) },
    ...failures(...refusals),
  },
})

const requestRoute = defineRoute({
  method: 'post',
  path,
  access: 'account:manage',
  secondFactor: true,
  // A stolen session must not allow guessing the password.
  rateLimit: { name: 'change-email', per: 'account', limit: 10, windowSeconds: 3_600 },
  operationId: 'requestEmailChange',
  summary: 'Change your email address',
  description:
    'Sends a link to the new address and, if the current address is confirmed, another one to it. The address changes once every link has been used. Links expire after 24 hours. Replaces an earlier request. Requires a session, and `current_password` if the account has a password.',
  request: { body: { required: true, content: json(changeEmailRequestSchema) } },
  responses: {
    202: { description: 'The links were sent.', content: json(emailChangeSchema) },
    ...failures(...refusals, 'second_factor_required', 'credentials_invalid', 'email_taken', 'rate_limited'),
  },
})

const cancelRoute = defineRoute({
  method: 'delete',
  path,
  access: 'account:manage',
  operationId: 'cancelEmailChange',
  summary: 'Cancel the change of your email address',
  responses: { 204: { description: 'The change was canceled, or none was pending.' }, ...failures(...refusals) },
})

const confirmRoute = defineRoute({
  method: 'post',
  path: '/v1/email-changes',
  access: 'anyone',
  operationId: 'confirmEmailChange',
  summary: 'Confirm the change of an email address',
  description: 'Send the `token` from the link in either email.',
  request: { body: { required: true, content: json(verifyEmailRequestSchema) } },
  responses: {
    200: { description: 'Confirmed by this address.', content: json(emailChangeConfirmedSchema) },
    ...failures('link_invalid', 'email_taken', 'rate_limited'),
  },
})

const cancelByLinkRoute = defineRoute({
  method: 'post',
  path: '/v1/email-changes/cancellation',
  access: 'anyone',
  operationId: 'cancelEmailChangeByLink',
  summary: 'Cancel the change of an email address by the link in the email',
  description: 'Send the `token` of the second link in the email to the old address.',
  request: { body: { required: true, content: json(verifyEmailRequestSchema) } },
  responses: { 204: { description: 'Canceled.' }, ...failures('link_invalid', 'rate_limited') },
})

const setRoute = defineRoute({
  method: 'put',
  path: '/v1/accounts/{username}/email',
  access: { operator: 'account:manage' },
  operationId: 'setAccountEmail',
  summary: 'Set a user’s email address, for operators',
  description:
    'For users who lost access to their mailbox, and for servers without mail. Verify the user’s identity first. The new address is unconfirmed until the user opens the link sent to it. The old address is notified. Sessions and tokens remain valid.',
  request: {
    params: z.object({ username: z.string().max(100) }),
    body: { required: true, content: json(setEmailRequestSchema) },
  },
  responses: {
    204: { description: 'The address was changed.' },
    ...failures(...refusals, 'second_factor_required', 'account_not_found', 'email_taken'),
  },
})

/** Changes of email addresses: by users, with links to both mailboxes, or by operators. */
export function emailChangeRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()

  routes.openapi(showRoute, async (c) => c.json({ email_change: await showEmailChange(services, c.get('actor')) }, 200))

  routes.openapi(requestRoute, async (c) => {
    const { email, current_password: password } = c.req.valid('json')
    return c.json(await requestEmailChange(services, c.get('actor'), { email, password, ip: c.get('ip') }), 202)
  })

  routes.openapi(cancelRoute, async (c) => {
    await cancelEmailChange(services, c.get('actor'), c.get('ip'))
    return c.body(null, 204)
  })

  routes.openapi(confirmRoute, async (c) => {
    const { token } = c.req.valid('json')
    return c.json(await confirmEmailChange(services, { token, ip: c.get('ip') }), 200)
  })

  routes.openapi(cancelByLinkRoute, async (c) => {
    await cancelByLink(services, { token: c.req.valid('json').token, ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(setRoute, async (c) => {
    const { email } = c.req.valid('json')
    const { username } = c.req.valid('param')
    const { account, changed } = await setEmail(services.database, c.get('actor'), { username, email, ip: c.get('ip') })
    if (changed) mailAfterSetting(services, account, email)
    return c.body(null, 204)
  })

  return routes
}
