import {
  AgentGymError,
  errorCatalog,
  requestPasswordResetSchema,
  resetPasswordRequestSchema,
  verifyEmailRequestSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Env, RouteRules } from '../../core/http/env.ts'
import type { Html } from '../../core/http/pages/page.ts'
import { createRoutes, declare, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { failed, framed } from './device-page.routes.ts'
import { cancelByLink, confirmEmailChange } from './email-change.ts'
import { resetPassword } from './log-in.ts'
import { sendPasswordReset, verifyEmail } from './sign-up.ts'

const verifyRoute = defineRoute({
  method: 'post',
  path: '/v1/email-verifications',
  access: 'anyone',
  summary: 'Verify an email address',
  description: 'Send the `token` from the link in the email.',
  request: { body: { required: true, content: { 'application/json': { schema: verifyEmailRequestSchema } } } },
  responses: {
    204: { description: 'The address is verified.' },
    ...failures('link_invalid', 'rate_limited'),
  },
})

const requestResetRoute = defineRoute({
  method: 'post',
  path: '/v1/password-resets',
  access: 'anyone',
  summary: 'Request a password reset email',
  description: 'The response does not reveal whether an account uses the address.',
  request: { body: { required: true, content: { 'application/json': { schema: requestPasswordResetSchema } } } },
  responses: {
    202: { description: 'If an account uses the address, an email was sent.' },
    ...failures('rate_limited'),
  },
})

const resetRoute = defineRoute({
  method: 'put',
  path: '/v1/password-resets',
  access: 'anyone',
  summary: 'Set a new password',
  description: 'Send the `token` from the link in the email. Ends every session of the account.',
  request: {
    body: { required: true, content: { 'application/json': { schema: resetPasswordRequestSchema } } },
  },
  responses: {
    204: { description: 'The password was set. Log in with it.' },
    ...failures('link_invalid', 'rate_limited'),
  },
})

/** API of the links in mails. */
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
    // Counts unknown addresses too, or the limit would reveal which addresses have accounts.
    await limitRate(database, `request-reset:${email}`, { limit: 5, windowSeconds: 3_600 })
    sendPasswordReset(services, email, c.get('ip'))
    return c.body(null, 202)
  })

  routes.openapi(resetRoute, async (c) => {
    const { token, password, revoke_tokens: revokeTokens } = c.req.valid('json')
    await resetPassword(services, { token, password, revokeTokens, ip: c.get('ip') })
    return c.body(null, 204)
  })

  return routes
}

/** Pages with plain forms, each with a CSRF token in a hidden field. */
const rules: RouteRules = { access: 'anyone', csrf: 'form' }

/**
 * Pages of the links in mails. A link only shows a form and the form acts, because mail scanners follow links. The
 * token in the form is the only credential, so a forged form gains nothing.
 */
export function mailPageRoutes(services: Services): Hono<Env> {
  const routes = new Hono<Env>()

  const oneClick = <Result>(
    link: OneClickLink,
    work: (token: string, ip: string) => Promise<Result>,
    done: string | ((result: Result) => string),
  ) => {
    routes.get(link.path, declare(rules), (c) => c.html(oneClickPage(link, { token: c.req.query('token') ?? '' })))
    routes.post(link.path, declare(rules), async (c) => {
      const { token } = await fields(c)
      const again = (failure: string) => oneClickPage(link, { token, failure })
      return finish(c, again, done, () => work(token, c.get('ip')))
    })
  }

  oneClick(
    { path: '/verify-email', title: 'Verify your email address', button: 'Confirm' },
    (token, ip) => verifyEmail(services, { token, ip }),
    'Your email address is verified.',
  )

  routes.get('/reset-password', declare(rules), (c) => c.html(resetPage({ token: c.req.query('token') ?? '' })))
  routes.post('/reset-password', declare(rules), async (c) => {
    const { token, password, revokeTokens } = await fields(c)
    return finish(
      c,
      (failure) => resetPage({ token, failure }),
      'Your password was set. Log in with it.',
      async () => {
        if (password.length < 10 || password.length > 200)
          throw new AgentGymError({ code: 'request_invalid', message: 'The password must have 10 to 200 characters.' })
        await resetPassword(services, { token, password, revokeTokens, ip: c.get('ip') })
      },
    )
  })

  oneClick(
    { path: '/change-email', title: 'Confirm the change of your email address', button: 'Confirm' },
    (token, ip) => confirmEmailChange(services, { token, ip }),
    ({ changed }) =>
      changed
        ? 'Your email address is changed. You stay logged in, and your tokens still work.'
        : 'Confirmed by this address. The change takes effect once the link in the email to the other address is used as well.',
  )

  oneClick(
    {
      path: '/cancel-email-change',
      title: 'Cancel the change of your email address',
      lead: 'Your account keeps its current address, and the links in both emails stop working.',
      button: 'Cancel the change',
    },
    (token, ip) => cancelByLink(services, { token, ip }),
    'The change is canceled. If you did not request it, change your password now: the person who did is logged in to your account.',
  )

  return routes
}

/** A link whose page has no fields. */
type OneClickLink = { path: string; title: string; lead?: string; button: string }

function oneClickPage(
  { path, title, lead, button }: OneClickLink,
  { token, failure }: { token: string; failure?: string },
): Html {
  return framed(
    title,
    html`
${lead === undefined ? '' : html`<p class="lead">${lead}</p>`}
<form method="post" action="${path}">
<input type="hidden" name="token" value="${token}">
${failed(failure)}
<button>${button}</button>
</form>`,
  )
}

function resetPage({ token, failure }: { token: string; failure?: string }): Html {
  return framed(
    'Choose a new password',
    html`
<p class="lead">At least 10 characters. You will be logged out everywhere.</p>
<form method="post" action="/reset-password">
<input type="hidden" name="token" value="${token}">
<label>New password<input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="200" required autofocus></label>
<label class="check"><input type="checkbox" name="revoke_tokens" value="yes"> Also revoke all tokens of the account</label>
${failed(failure)}
<button>Set password</button>
</form>`,
  )
}

async function fields(c: Context<Env>): Promise<{ token: string; password: string; revokeTokens: boolean }> {
  const { token = '', password = '', revoke_tokens = '' } = await c.req.parseBody()
  return { token: String(token).slice(0, 100), password: String(password), revokeTokens: revoke_tokens === 'yes' }
}

async function finish<Result>(
  c: Context<Env>,
  again: (failure: string) => Html,
  done: string | ((result: Result) => string),
  work: () => Promise<Result>,
) {
  let result: Result
  try {
    result = await work()
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return c.html(again(error.message), errorCatalog[error.code].status as ContentfulStatusCode)
  }
  const text = typeof done === 'string' ? done : done(result)
  return c.html(framed('Done', html`<p class="lead">${text}</p>`))
}
