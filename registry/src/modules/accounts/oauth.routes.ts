import { AgentGymError, oauthCallbackSchema, oauthRequestSchema, returnToSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { generateCodeVerifier, generateState } from 'arctic'
import { z } from 'zod'
import { isLocalRequest } from '../../core/http/client-address.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  type Identity,
  logInByOauth,
  type OauthProvider,
  type ProviderName,
  type Providers,
  providerNames,
} from './oauth-log-in.ts'
import { keepPending, takePending } from './pending-log-in.ts'
import { codePagePath } from './second-factor.routes.ts'

const providerParam = z.object({ provider: z.string().max(40) })

const startRoute = defineRoute({
  method: 'get',
  path: '/v1/oauth/{provider}',
  access: 'anyone',
  summary: 'Log in through GitHub or Google',
  description: 'For browsers. `return_to` is the path on this site to return to.',
  request: { params: providerParam, query: oauthRequestSchema },
  responses: {
    302: { description: 'Redirects to the provider.' },
    ...failures('oauth_not_configured'),
  },
})

const callbackRoute = defineRoute({
  method: 'get',
  path: '/v1/oauth/{provider}/callback',
  access: 'anyone',
  summary: 'Callback for the provider',
  request: {
    params: providerParam,
    query: oauthCallbackSchema,
  },
  responses: {
    302: { description: 'Logged in. Redirects to `return_to`.' },
    ...failures('oauth_not_configured', 'oauth_failed'),
  },
})

/** Stored in the browser during the redirect. */
const pendingSchema = z.object({
  provider: z.string(),
  state: z.string(),
  codeVerifier: z.string(),
  returnTo: returnToSchema,
})

export function oauthRoutes(services: Services, providers: Providers): OpenAPIHono<Env> {
  const { config, log } = services
  const routes = createRoutes()

  routes.openapi(startRoute, (c) => {
    const { provider, client } = configured(providers, c.req.valid('param').provider)
    const pending = {
      provider,
      state: generateState(),
      codeVerifier: generateCodeVerifier(),
      returnTo: c.req.valid('query').return_to,
    }
    keepPending(c, config, 'oauth', pending)
    return c.redirect(client.authorisationUrl(pending).href, 302)
  })

  routes.openapi(callbackRoute, async (c) => {
    const { provider, client } = configured(providers, c.req.valid('param').provider)
    const { code, state } = c.req.valid('query')
    const pending = takePending(c, config, 'oauth', pendingSchema)
    if (pending?.provider !== provider || state === undefined || pending.state !== state)
      throw oauthFailed('This login was started in another browser, or has expired.')
    if (code === undefined) throw oauthFailed('The login was canceled at the provider.')
    let identity: Identity
    try {
      identity = await client.identify(code, pending.codeVerifier)
    } catch (error) {
      log.warn('login with an external provider failed', { provider, error: String(error) })
      throw oauthFailed('The provider did not confirm the login.')
    }
    const request = { ip: c.get('ip'), cookieHeader: c.req.header('cookie') ?? '', local: isLocalRequest(c) }
    const { cookie, awaitsCode } = await logInByOauth(services, provider, identity, request)
    c.header('set-cookie', cookie, { append: true })
    return c.redirect(awaitsCode ? codePagePath(pending.returnTo) : pending.returnTo, 302)
  })

  return routes
}

function configured(providers: Providers, name: string): { provider: ProviderName; client: OauthProvider } {
  for (const provider of providerNames) {
    const client = providers[provider]
    if (provider === name && client !== undefined) return { provider, client }
  }
  throw new AgentGymError({
    code: 'oauth_not_configured',
    message: `This server does not offer login with ${name}.`,
    data: { provider: name },
  })
}

function oauthFailed(message: string): AgentGymError {
  return new AgentGymError({ code: 'oauth_failed', message, hint: 'Start the login again.' })
}
