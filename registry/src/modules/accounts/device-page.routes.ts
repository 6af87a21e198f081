import { AgentGymError, errorCatalogue } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Env } from '../../core/http/env.ts'
import { checkFormToken, makeFormToken } from '../../core/http/form-token.ts'
import type { Html } from '../../core/http/pages/page.ts'
import { declare, type RouteRules, requestInvalid } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { type DeviceCode, findPendingCode } from './device-codes.store.ts'
import { decideDeviceCode, scopesOf } from './device-log-in.ts'
import { approvePage, codePage, decidedPage, logInPage } from './device-page.ts'
import { logIn } from './log-in.ts'

/** Pages with plain forms, each with a proof of its own in a hidden field. */
const rules: RouteRules = { access: 'anyone', csrf: 'form' }

const formSchema = z.object({
  step: z.enum(['log-in', 'approve', 'deny']),
  form_token: z.string().max(100).default(''),
  user_code: z.string().max(40).default(''),
  username: z.string().max(254).default(''),
  password: z.string().max(1_000).default(''),
})
type Form = z.infer<typeof formSchema>

/** Codes looked up per network: enough for typing mistakes, far too few to find one of 2.6e10. */
const lookUps = { limit: 30, windowSeconds: 600 }
const logInPurpose = 'device log-in'

/** `/device`: log in, compare the code, approve or deny. Pages without script; failures are shown in them. */
export function devicePageRoutes(services: Services, providers: string[]): Hono<Env> {
  const { config } = services
  const routes = new Hono<Env>()

  const showLogIn = (c: Context<Env>, userCode: string, rest: { username?: string; failure?: string } = {}) =>
    logInPage({ userCode, username: '', providers, formToken: makeFormToken(c, config, logInPurpose), ...rest })

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
        const { cookie } = await logIn(services, { ...form, ip: c.get('ip'), cookieHeader })
        c.header('set-cookie', cookie, { append: true })
        return c.redirect(`/device?user_code=${encodeURIComponent(form.user_code)}`, 303)
      })
    }
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

/** A token must not approve what it may not do itself: only a person in a browser decides. */
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
    message: 'There is no log-in with this code that waits for a decision. Codes hold for ten minutes.',
  })
}

/** An expected failure as the page that it happened on, with its message. */
async function showing(c: Context<Env>, again: (failure: string) => Html, work: () => Promise<Response>) {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    return c.html(again(error.message), errorCatalogue[error.code].status as ContentfulStatusCode)
  }
}

async function readForm(c: Context<Env>): Promise<Form> {
  const parsed = formSchema.safeParse(await c.req.parseBody())
  if (parsed.success) return parsed.data
  throw requestInvalid(parsed.error, 'form')
}
