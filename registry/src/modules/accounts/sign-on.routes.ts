import {
  AgentGymError,
  returnToSchema,
  setSignOnRequestSchema,
  signOnDomainRequestSchema,
  signOnDomainSchema,
  signOnRequestSchema,
  signOnSchema,
} from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, TypedResponse } from 'hono'
import { z } from 'zod'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { authorizationUrl, discover, identify, makeRequest } from './openid-client.ts'
import { keepPending, takePending } from './pending-log-in.ts'
import { codePagePath } from './second-factor.routes.ts'
import { logInBySignOn } from './sign-on.ts'
import {
  addDomain,
  findProvider,
  type ResolveTxt,
  redirectUri,
  removeDomain,
  removeProvider,
  setProvider,
  showSignOn,
  verifyDomain,
} from './sign-on-providers.ts'

const organizationParam = z.object({ organisation: z.string() })
const domainParam = organizationParam.extend({ domain: signOnDomainRequestSchema.shape.domain })
const signOnPath = '/v1/organisations/{organisation}/sign-on'
const refusals = ['unauthenticated', 'forbidden', 'account_not_found'] as const

const showRoute = defineRoute({
  method: 'get',
  path: signOnPath,
  access: 'account:manage',
  summary: 'Get an organization’s single sign-on',
  description: 'Requires the role of admin. The client secret is never returned.',
  request: { params: organizationParam },
  responses: {
    200: { description: 'The provider and the domains.', content: json(signOnSchema) },
    ...failures(...refusals),
  },
})

const setRoute = defineRoute({
  method: 'put',
  path: signOnPath,
  access: 'account:manage',
  rateLimit: { name: 'sign-on', per: 'account', limit: 30, windowSeconds: 3_600 },
  summary: 'Set an organization’s OpenID provider',
  description:
    'Requires the role of owner. The provider must answer discovery. Register `redirect_uri` there. A SAML provider works through an OpenID bridge.',
  request: { params: organizationParam, body: { required: true, content: json(setSignOnRequestSchema) } },
  responses: {
    200: { description: 'The provider and the domains.', content: json(signOnSchema) },
    ...failures(...refusals, 'config_invalid', 'oauth_failed', 'rate_limited'),
  },
})

const removeRoute = defineRoute({
  method: 'delete',
  path: signOnPath,
  access: 'account:manage',
  summary: 'Remove an organization’s OpenID provider',
  description: 'Requires the role of owner. Members keep their accounts and sessions.',
  request: { params: organizationParam },
  responses: { 204: { description: 'Removed.' }, ...failures(...refusals) },
})

const addDomainRoute = defineRoute({
  method: 'post',
  path: `${signOnPath}/domains`,
  access: 'account:manage',
  summary: 'Add a domain',
  description: 'Requires the role of owner. The domain is active once its TXT record is verified.',
  request: { params: organizationParam, body: { required: true, content: json(signOnDomainRequestSchema) } },
  responses: {
    201: { description: 'The domain and the record to add.', content: json(signOnDomainSchema) },
    ...failures(...refusals),
  },
})

const verifyDomainRoute = defineRoute({
  method: 'post',
  path: `${signOnPath}/domains/{domain}/verify`,
  access: 'account:manage',
  rateLimit: { name: 'sign-on-domain', per: 'account', limit: 60, windowSeconds: 3_600 },
  summary: 'Verify a domain',
  request: { params: domainParam },
  responses: {
    200: { description: 'Verified.', content: json(signOnDomainSchema) },
    ...failures(...refusals, 'domain_unverified', 'request_invalid', 'rate_limited'),
  },
})

const removeDomainRoute = defineRoute({
  method: 'delete',
  path: `${signOnPath}/domains/{domain}`,
  access: 'account:manage',
  summary: 'Remove a domain',
  request: { params: domainParam },
  responses: {
    204: { description: 'Its addresses no longer log in through the organization.' },
    ...failures(...refusals),
  },
})

const startRoute = defineRoute({
  method: 'get',
  path: '/v1/sign-on',
  access: 'anyone',
  rateLimit: { name: 'sign-on-start', per: 'network', limit: 60, windowSeconds: 60 },
  summary: 'Log in through an organization',
  description: 'For browsers. The domain of `email` selects the organization.',
  request: { query: signOnRequestSchema },
  responses: {
    302: { description: 'Redirects to the provider.' },
    ...failures('oauth_not_configured', 'oauth_failed', 'rate_limited'),
  },
})

const callbackRoute = defineRoute({
  method: 'get',
  path: '/v1/sign-on/callback',
  access: 'anyone',
  summary: 'Callback for organizations’ providers',
  responses: {
    302: { description: 'Logged in. Redirects to `return_to`.' },
    ...failures('oauth_not_configured', 'oauth_failed'),
  },
})

/** Stored in the browser during the redirect. */
const pendingSchema = z.object({
  organizationId: z.uuid(),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: returnToSchema,
})

/** Single sign-on of organizations. `resolve` looks up TXT records; tests pass their own. */
export function signOnRoutes(services: Services, resolve?: ResolveTxt): OpenAPIHono<Env> {
  const { config, database } = services
  const routes = createRoutes()
  routes.openapi(showRoute, async (c) => {
    const change = { actor: c.get('actor'), ip: c.get('ip'), ...c.req.valid('param') }
    return c.json(await showSignOn(services, change), 200)
  })
  routes.openapi(setRoute, async (c) => {
    const change = { actor: c.get('actor'), ip: c.get('ip'), ...c.req.valid('param') }
    await setProvider(services, change, c.req.valid('json'))
    return c.json(await showSignOn(services, change), 200)
  })
  routes.openapi(removeRoute, async (c) => {
    await removeProvider(services, { actor: c.get('actor'), ip: c.get('ip'), ...c.req.valid('param') })
    return c.body(null, 204)
  })
  routes.openapi(addDomainRoute, async (c) => {
    const change = { actor: c.get('actor'), ip: c.get('ip'), ...c.req.valid('param') }
    return c.json(await addDomain(services, change, c.req.valid('json').domain), 201)
  })
  routes.openapi(verifyDomainRoute, async (c) => {
    const { domain, organisation } = c.req.valid('param')
    const change = { actor: c.get('actor'), ip: c.get('ip'), organisation }
    return c.json(await verifyDomain(services, change, domain, resolve), 200)
  })
  routes.openapi(removeDomainRoute, async (c) => {
    const { domain, organisation } = c.req.valid('param')
    await removeDomain(services, { actor: c.get('actor'), ip: c.get('ip'), organisation }, domain)
    return c.body(null, 204)
  })

  routes.openapi(startRoute, (c) => backToPage(c, () => start(c, c.req.valid('query'))))
  routes.openapi(callbackRoute, (c) => backToPage(c, () => finish(c)))
  return routes

  async function start(c: Context<Env>, { email, return_to: returnTo }: z.infer<typeof signOnRequestSchema>) {
    const domain = email.split('@')[1]?.toLowerCase() ?? ''
    const provider = await findProvider(database.query, config, { domain })
    const configuration = await discover(config, provider)
    const request = makeRequest()
    const pending = { ...request, organizationId: provider.organizationId, returnTo }
    keepPending(c, config, 'sign_on', pending)
    return c.redirect((await authorizationUrl(configuration, redirectUri(config), request, email)).href, 302)
  }

  async function finish(c: Context<Env>) {
    const pending = takePending(c, config, 'sign_on', pendingSchema)
    if (pending === undefined)
      throw new AgentGymError({
        code: 'oauth_failed',
        message: 'This login was started in another browser, or has expired.',
        hint: 'Start the login again.',
      })
    const provider = await findProvider(database.query, config, { organizationId: pending.organizationId })
    // As registered at the provider: behind a proxy, the request's own URL differs.
    const callback = new URL(redirectUri(config))
    callback.search = new URL(c.req.url).search
    const user = await identify(await discover(config, provider), callback, pending)
    const request = { actor: c.get('actor'), ip: c.get('ip'), cookieHeader: c.req.header('cookie') ?? '' }
    const { cookie, awaitsCode } = await logInBySignOn(services, provider, user, request)
    c.header('set-cookie', cookie, { append: true })
    return c.redirect(awaitsCode ? codePagePath(pending.returnTo) : pending.returnTo, 302)
  }
}

type Redirect = Response & TypedResponse<undefined, 302, 'redirect'>

/** Browsers are redirected to the login page with the failure; programs get the error. */
async function backToPage(c: Context<Env>, answer: () => Promise<Redirect>): Promise<Redirect> {
  try {
    return await answer()
  } catch (error) {
    const isBrowser = c.req.header('accept')?.startsWith('text/html') ?? false
    if (!isBrowser || !(error instanceof AgentGymError)) throw error
    return c.redirect(`/login/organization?failed=${error.code}`, 302)
  }
}
