import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { ownAccountRoutes } from './accounts.routes.ts'
import { auditRoutes } from './audit.routes.ts'
import { deviceCodeRoutes } from './device-codes.routes.ts'
import { devicePageRoutes } from './device-page.routes.ts'
import { mailLinkRoutes } from './mail-links.routes.ts'
import { mailPageRoutes } from './mail-pages.routes.ts'
import { oauthRoutes } from './oauth.routes.ts'
import { oauthProviders, type Providers } from './oauth-providers.ts'
import { organisationRoutes } from './organisations.routes.ts'
import { sessionRoutes } from './sessions.routes.ts'
import { tokenRoutes } from './tokens.routes.ts'

/** Every route about accounts; mount it behind `authenticate`. `providers`: through whom else one can log in. */
export function accountRoutes(
  services: Services,
  providers: Providers = oauthProviders(services.config),
): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.route('/', ownAccountRoutes(services))
  routes.route('/', sessionRoutes(services))
  routes.route('/', tokenRoutes(services))
  routes.route('/', organisationRoutes(services))
  routes.route('/', mailLinkRoutes(services))
  routes.route('/', deviceCodeRoutes(services))
  routes.route('/', oauthRoutes(services, providers))
  routes.route('/', devicePageRoutes(services, Object.keys(providers)))
  routes.route('/', mailPageRoutes(services))
  routes.route('/', auditRoutes(services))
  return routes
}
