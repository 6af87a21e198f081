import { AgentGymError, errorCatalog, tokenScopes } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import type { Actor, Scope } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Env, RouteRules } from '../../core/http/env.ts'
import { checkFormToken, makeFormToken } from '../../core/http/form-token.ts'
import { type Html, page } from '../../core/http/pages/page.ts'
import { declare, requestInvalid } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { type DeviceCode, decideDeviceCode, findPendingCode, scopesOf } from './device-log-in.ts'
import { logIn } from './log-in.ts'
import { enterCode } from './start-session.ts'

/** Pages with plain forms, each with a CSRF token in a hidden field. */
const rules: RouteRules = { access: 'anyone', csrf: 'form' }

const formSchema = z.object({
  step: z.enum(['log-in', 'code', 'approve', 'deny']),
  form_token: z.string().max(100).default(''),
  user_code: z.string().max(40).default(''),
  username: z.string().max(254).default(''),
  password: z.string().max(1_000).default(''),
  code: z.string().max(60).default(''),
})
type Form = z.infer<typeof formSchema>

/** Lookups of codes per network: enough for typing mistakes, far too few to guess one of 2.6e10. */
const lookUps = { limit: 30, windowSeconds: 600 }
const logInPurpose = 'device login'

/** `/device`: log in, compare the code, approve or deny. Pages without script; failures are shown in them. */
export function devicePageRoutes(services: Services, providers: string[]): Hono<Env> {
  const { config } = services
  const routes = new Hono<Env>()

  const showLogIn = (c: Context<Env>, userCode: string, rest: { username?: string; failure?: string } = {}) =>
    logInPage({ userCode, username: '', providers, formToken: makeFormToken(c, config, logInPurpose), ...rest })

  const showCode = (c: Context<Env>, userCode: string, failure?: string) =>
    secondFactorPage({ userCode, formToken: makeFormToken(c, config, logInPurpose), ...(failure && { failure }) })

  routes.get('/device', declare(rules), async (c) => {
    const actor = browserUser(c)
    const userCode = (c.req.query('user_code') ?? '').slice(0, 40)
    if (actor === null) return c.html(showLogIn(c, userCode))
    if (userCode === '') return c.html(codePage({ userCode }))
    return showing(
      c,
      (failure) => codePage({ userCode, failure }),
      async () => {
        const code = await lookUp(services, c, userCode)
        if (actor.factorConfirmed === false) return c.html(showCode(c, userCode))
        const formToken = makeFormToken(c, config, decisionPurpose(actor, code))
        const { username } = actor
        return c.html(
          approvePage({ userCode: code.user_code, name: code.name, scopes: scopesOf(code), username, formToken }),
        )
      },
    )
  })

  routes.post('/device', declare(rules), async (c) => {
    const form = await readForm(c)
    if (form.step === 'log-in') {
      const again = (failure: string) => showLogIn(c, form.user_code, { username: form.username, failure })
      return showing(c, again, async () => {
        checkFormToken(c, config, logInPurpose, form.form_token)
        const cookieHeader = c.req.header('cookie') ?? ''
        const { username, password } = form
        const { cookies, awaitsCode } = await logIn(services, { username, password, ip: c.get('ip'), cookieHeader })
        for (const cookie of cookies) c.header('set-cookie', cookie, { append: true })
        if (awaitsCode) return c.html(showCode(c, form.user_code))
        return c.redirect(pagePath(form.user_code), 303)
      })
    }
    if (form.step === 'code')
      return showing(
        c,
        (failure) => showCode(c, form.user_code, failure),
        async () => {
          checkFormToken(c, config, logInPurpose, form.form_token)
          await confirm(services, c, form.code)
          return c.redirect(pagePath(form.user_code), 303)
        },
      )
    const actor = browserUser(c)
    if (actor === null) return c.html(showLogIn(c, form.user_code, { failure: 'Log in first.' }), 401)
    const state = form.step === 'approve' ? 'approved' : 'denied'
    return showing(
      c,
      (failure) => codePage({ userCode: form.user_code, failure }),
      async () => {
        const code = await lookUp(services, c, form.user_code)
        checkFormToken(c, config, decisionPurpose(actor, code), form.form_token)
        await decideDeviceCode(services, actor, code, state, c.get('ip'))
        return c.html(decidedPage(state))
      },
    )
  })

  return routes
}

function pagePath(userCode: string): string {
  return `/device?user_code=${encodeURIComponent(userCode)}`
}

/** Handles a second-factor code, for a login that still needs it or a session that must be confirmed. */
async function confirm(services: Services, c: Context<Env>, code: string): Promise<void> {
  const session = await enterCode(services, { cookieHeader: c.req.header('cookie') ?? '', code, ip: c.get('ip') })
  if (session === undefined)
    throw new AgentGymError({ code: 'unauthenticated', message: 'The login has expired. Open this page again.' })
  c.header('set-cookie', session.cookie, { append: true })
}

/** A token must not approve permissions that it does not have, so approval requires a browser session. */
function browserUser(c: Context<Env>): Actor | null {
  const actor = c.get('actor')
  return actor?.tokenId === null ? actor : null
}

function decisionPurpose(actor: Actor, code: DeviceCode): string {
  return `device decision\n${actor.accountId}\n${code.hash}`
}

async function lookUp({ database }: Services, c: Context<Env>, userCode: string): Promise<DeviceCode> {
  await limitRate(database, `device-page:${clientNetwork(c.get('ip'))}`, lookUps)
  const code = await findPendingCode(database.query, userCode)
  if (code !== undefined) return code
  throw new AgentGymError({
    code: 'expired_token',
    message: 'No login is waiting with this code. Codes expire after ten minutes.',
  })
}

/** Shows an expected failure on the page where it happened. */
async function showing(c: Context<Env>, again: (failure: string) => Html, work: () => Promise<Response>) {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return c.html(again(error.message), errorCatalog[error.code].status as ContentfulStatusCode)
  }
}

async function readForm(c: Context<Env>): Promise<Form> {
  const parsed = formSchema.safeParse(await c.req.parseBody())
  if (parsed.success) return parsed.data
  throw requestInvalid(parsed.error, 'form')
}

type Failure = { failure?: string }

/** Asks for the code shown in the terminal. */
function codePage({ userCode, failure }: { userCode: string } & Failure): Html {
  return framed(
    'Log in on a device',
    html`
<p class="lead">Enter the code shown in your terminal.</p>
<form method="get" action="/device">
<label>Code<input name="user_code" value="${userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" required autofocus></label>
${failed(failure)}
<button>Continue</button>
</form>`,
  )
}

/** Requires a login before anything about the code is shown. */
function logInPage(
  form: { userCode: string; username: string; formToken: string; providers: string[] } & Failure,
): Html {
  const back = encodeURIComponent(`/device?user_code=${encodeURIComponent(form.userCode)}`)
  return framed(
    'Log in',
    html`
<p class="lead">Log in to approve the code shown in your terminal.</p>
<form method="post" action="/device">
<input type="hidden" name="step" value="log-in">
<input type="hidden" name="form_token" value="${form.formToken}">
<input type="hidden" name="user_code" value="${form.userCode}">
<label>Username<input name="username" value="${form.username}" autocomplete="username" autocapitalize="none" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
${failed(form.failure)}
<button>Log in</button>
</form>
${form.providers.map((provider) => html`<p><a href="/v1/oauth/${provider}?return_to=${back}">Log in with ${titles[provider] ?? provider}</a></p>`)}`,
  )
}
const titles: Record<string, string> = { github: 'GitHub', google: 'Google' }

/** Asks for a second-factor code. */
function secondFactorPage({ userCode, formToken, failure }: { userCode: string; formToken: string } & Failure): Html {
  return framed(
    'Enter your code',
    html`
<p class="lead">Enter the code of your authenticator app, or a recovery code.</p>
<form method="post" action="/device">
<input type="hidden" name="step" value="code">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="user_code" value="${userCode}">
<label>Code<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus></label>
${failed(failure)}
<button>Continue</button>
</form>`,
  )
}

/** Shows the code again, so that users who received a link from an attacker can notice. */
function approvePage(code: {
  userCode: string
  name: string
  scopes: Scope[]
  username: string
  formToken: string
}): Html {
  return framed(
    'Approve this login?',
    html`
<p><b>${code.name}</b> requests access to <b>${code.username}</b>. It will be able to:</p>
<ul>${code.scopes.map((scope) => html`<li>${tokenScopes[scope]}</li>`)}</ul>
<p>Check that your terminal shows this code. If you did not just start a login there, deny it.</p>
<pre><code>${code.userCode}</code></pre>
<form method="post" action="/device">
<input type="hidden" name="form_token" value="${code.formToken}">
<input type="hidden" name="user_code" value="${code.userCode}">
<button name="step" value="approve">Approve</button>
<button name="step" value="deny" class="quiet">Deny</button>
</form>`,
  )
}

function decidedPage(state: 'approved' | 'denied'): Html {
  return framed(
    state === 'approved' ? 'Approved' : 'Denied',
    html`<p class="lead">${
      state === 'approved' ? 'Your terminal is logged in. Close this page.' : 'Access was denied. Close this page.'
    }</p>`,
  )
}

export function framed(title: string, body: Html): Html {
  return page({ title: `${title} · AgentGym`, body: [html`<h1>${title}</h1>`, body] })
}

export function failed(message: string | undefined): Html | '' {
  return message === undefined ? '' : html`<p class="failure" role="alert">${message}</p>`
}
