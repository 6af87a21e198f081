import { OpenAPIHono } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { compress } from 'hono/compress'
import { answer, answerError } from '../core/http/answer-error.ts'
import type { Env } from '../core/http/env.ts'
import type { PageView } from '../core/http/page-views.ts'
import { assetRoutes } from '../core/http/pages/assets.routes.ts'
import { page } from '../core/http/pages/page.ts'
import { observeRequests, requestContext, securityHeaders } from '../core/http/request-context.ts'
import { limitBodies, limitRequestRate, limitTime, refuseNul, requireAccess } from '../core/http/request-limits.ts'
import { declare } from '../core/http/route.ts'
import { routedPath } from '../core/http/routed-path.ts'
import { handOverJson, mountSite, type Site } from '../core/http/site.ts'
import type { RequestTracer } from '../core/observability/tracing.ts'
import type { Services } from '../core/services.ts'
import { version } from '../core/version.ts'
import { authenticate } from '../modules/accounts/index.ts'
import { type CommandPackage, commandPackageRoutes } from './command-package.routes.ts'
import { Documentation, homePage } from './documentation.ts'
import { healthRoutes } from './health.routes.ts'
import { metricsRoutes } from './metrics.routes.ts'

export type AppOptions = {
  /** The modules' routes, mounted at the root with their full paths. */
  routes: Hono<Env>[]
  /** True once the server starts to shut down. */
  draining?: () => boolean
  /** Tracer of requests. */
  tracer?: RequestTracer
  /** The marketplace's site. Default: a plain home page. */
  site?: Site
  /** The command as a package for npm. Absent: not served. */
  command?: CommandPackage
  /** Called for every page of a package that a person is shown. */
  onPageView?: (view: PageView) => void
}

/** The complete application: API, npm registry, reference pages and site. */
export function createApp(services: Services, options: AppOptions): OpenAPIHono<Env> {
  const { routes, draining = () => false, tracer, site, command, onPageView } = options
  const { config, log } = services
  const app = new OpenAPIHono<Env>({ getPath: routedPath })
  app.onError(answerError(log))
  app.notFound((c) =>
    answer(c, {
      code: 'endpoint_not_found',
      message: `No route matches ${c.req.method} ${c.req.path.slice(0, 200)}.`,
      hint: `${config.publicUrl}/docs/api lists all endpoints.`,
    }),
  )
  app.use(
    compress(),
    requestContext(config, log),
    observeRequests(services, tracer),
    securityHeaders(config),
    limitBodies(config),
    limitTime(services.dependencies),
    handOverJson(),
  )
  app.route('/', healthRoutes(services, draining))
  app.route('/', metricsRoutes(services))
  app.route('/', assetRoutes())
  const documentation = new Documentation(app, config.publicUrl, version)
  const reference = (path: string) => documentation.page(path)
  if (site !== undefined) app.use(mountSite(site, app, { reference, publicUrl: config.publicUrl, onPageView }))
  app.use(refuseNul(), authenticate(services), requireAccess(), limitRequestRate(services.database))
  app.route('/', commandPackageRoutes(command))
  for (const each of routes) app.route('/', each)
  mountDocumentation(app, documentation, config.publicUrl)
  return app
}

/** The OpenAPI document; and for servers without the site, the home page and the reference. */
function mountDocumentation(app: OpenAPIHono<Env>, documentation: Documentation, publicUrl: string): void {
  const open = declare({ access: 'anyone' })
  const pages = declare({ access: 'anyone', yieldsToSite: true })
  app.get('/v1/openapi.json', open, (c) =>
    c.json(documentation.document(), 200, { 'cache-control': 'public, max-age=60' }),
  )
  app.get('/', open, (c) => c.html(homePage(publicUrl, version)))
  app.get('/docs', pages, (c) => c.redirect('/docs/api'))
  app.get('/docs/api/:page?', pages, async (c, next) => {
    const found = documentation.page(c.req.path)
    if (found === undefined) return next()
    return c.html(page({ title: `${found.title} · AgentGym`, body: found.body }), 200, {
      'cache-control': 'public, max-age=60',
    })
  })
}
