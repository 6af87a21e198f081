import {
  browserFactorSchema,
  keyOptionsSchema,
  newSecurityKeySchema,
  securityKeyAnswerRequestSchema,
  securityKeyListSchema,
  securityKeySchema,
  sessionSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { z } from 'zod'
import { unauthenticated } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { addSecurityKey, beginSecurityKey, listSecurityKeys, removeSecurityKey } from './security-keys.ts'
import { askForKey, enterKey, factorOfBrowser } from './use-security-key.ts'

const path = '/v1/account/security-keys'
const current = '/v1/sessions/current'
const refusals = ['unauthenticated', 'forbidden'] as const

const listRoute = defineRoute({
  method: 'get',
  path,
  access: 'account:manage',
  operationId: 'listSecurityKeys',
  summary: 'List your security keys',
  responses: {
    200: { description: 'All security keys of the account.', content: json(securityKeyListSchema) },
    ...failures(...refusals),
  },
})

const beginRoute = defineRoute({
  method: 'post',
  path: `${path}/options`,
  access: 'account:manage',
  secondFactor: true,
  operationId: 'beginSecurityKey',
  summary: 'Start adding a security key',
  description:
    'Returns the options for `navigator.credentials.create`, with a challenge for this session that can be used once, within five minutes. Requires a session that has confirmed the second factor.',
  responses: {
    200: { description: 'PublicKeyCredentialCreationOptionsJSON.', content: json(keyOptionsSchema) },
    ...failures(...refusals, 'second_factor_required', 'second_factor_conflict'),
  },
})

const addRoute = defineRoute({
  method: 'post',
  path,
  access: 'account:manage',
  secondFactor: true,
  operationId: 'addSecurityKey',
  summary: 'Add a security key or passkey',
  description:
    'Send the credential that the browser created. The key must verify its user (PIN, fingerprint or face). Requires a session that has confirmed the second factor.',
  request: { body: { required: true, content: json(newSecurityKeySchema) } },
  responses: {
    201: { description: 'The key.', content: json(securityKeySchema) },
    ...failures(...refusals, 'second_factor_required', 'second_factor_invalid', 'second_factor_conflict'),
  },
})

const removeRoute = defineRoute({
  method: 'delete',
  path: `${path}/{id}`,
  access: 'account:manage',
  secondFactor: true,
  operationId: 'removeSecurityKey',
  summary: 'Remove a security key',
  request: { params: z.object({ id: z.uuid() }) },
  responses: { 204: { description: 'The key was removed.' }, ...failures(...refusals, 'second_factor_required') },
})

const factorRoute = defineRoute({
  method: 'get',
  path: `${current}/second-factor`,
  access: 'anyone',
  operationId: 'getSessionFactor',
  summary: 'List the ways to confirm the session',
  description: 'Requires the session cookie. Works during a login that still needs the second factor.',
  responses: {
    200: { description: 'The methods accepted in addition to codes.', content: json(browserFactorSchema) },
    ...failures('unauthenticated'),
  },
})

const askRoute = defineRoute({
  method: 'post',
  path: `${current}/security-key/options`,
  access: 'anyone',
  rateLimit: { name: 'security-key-options', per: 'network', limit: 120, windowSeconds: 15 * 60 },
  operationId: 'askForSecurityKey',
  summary: 'Start confirming the session with a security key',
  description:
    'Returns the options for `navigator.credentials.get`, with a challenge for this session that can be used once, within five minutes.',
  responses: {
    200: { description: 'PublicKeyCredentialRequestOptionsJSON.', content: json(keyOptionsSchema) },
    ...failures('unauthenticated', 'second_factor_conflict', 'rate_limited'),
  },
})

const enterRoute = defineRoute({
  method: 'post',
  path: `${current}/security-key`,
  access: 'anyone',
  operationId: 'confirmSessionByKey',
  summary: 'Confirm the session with a security key',
  description:
    'Completes a login that returned `second_factor_required`, or confirms the session for 30 minutes. Requires the session cookie and sets a new one.',
  request: { body: { required: true, content: json(securityKeyAnswerRequestSchema) } },
  responses: {
    200: { description: 'Confirmed.', content: json(sessionSchema) },
    ...failures('unauthenticated', 'second_factor_invalid', 'second_factor_required', 'rate_limited'),
  },
})

/** Security keys: management, and confirmation of sessions. */
export function securityKeyRoutes(services: Services): OpenAPIHono<Env> {
  const routes = createRoutes()

  routes.openapi(listRoute, async (c) => c.json(await listSecurityKeys(services, c.get('actor')), 200))

  routes.openapi(beginRoute, async (c) => c.json(await beginSecurityKey(services, c.get('actor')), 200))

  routes.openapi(addRoute, async (c) =>
    c.json(await addSecurityKey(services, c.get('actor'), { ...c.req.valid('json'), ip: c.get('ip') }), 201),
  )

  routes.openapi(removeRoute, async (c) => {
    await removeSecurityKey(services, c.get('actor'), { ...c.req.valid('param'), ip: c.get('ip') })
    return c.body(null, 204)
  })

  routes.openapi(factorRoute, async (c) => c.json(orNoSession(await factorOfBrowser(services, cookiesOf(c))), 200))

  routes.openapi(askRoute, async (c) => c.json(orNoSession(await askForKey(services, cookiesOf(c))), 200))

  routes.openapi(enterRoute, async (c) => {
    const { credential } = c.req.valid('json')
    const answered = { cookieHeader: cookiesOf(c), credential, ip: c.get('ip') }
    const { cookie, username } = orNoSession(await enterKey(services, answered))
    c.header('set-cookie', cookie)
    return c.json({ username }, 200)
  })

  return routes
}

/** Requests with a token have no session. */
function cookiesOf(c: Context<Env>): string {
  return c.get('actor')?.tokenId ? '' : (c.req.header('cookie') ?? '')
}

function orNoSession<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value
  throw unauthenticated('There is no session to confirm, or it has expired. Log in again.')
}
