import { OpenAPIHono } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { authenticate } from '../auth/authenticate.ts'
import { answer, answerError } from './answer-error.ts'
import type { Env } from './env.ts'
import { handOverJson } from './hand-over-json.ts'
import { healthRoutes } from './health.routes.ts'
import { metricsRoutes } from './metrics.routes.ts'
import { observeRequests } from './observe-requests.ts'
import { buildOpenApiDocument } from './openapi-document.ts'
import { assetRoutes } from './pages/assets.routes.ts'
import { homePage } from './pages/home-page.ts'
import { referencePages } from './pages/reference-pages.ts'
import { requestContext } from './request-context.ts'
import { limitBodies, limitTime } from './request-limits.ts'
import type { RequestTracer } from './request-tracer.ts'
import { routedPath } from './routed-path.ts'
import { securityHeaders } from './security-headers.ts'
import type { Services } from './services.ts'
import { mountSite, type Site } from './site.ts'
import { version } from './version.ts'

export type AppOptions = {
  /** The rooms' routes, mounted at the root: each names its whole path. */
  rooms: Hono<Env>[]
  /** True once the server has been asked to stop. */
  draining?: () => boolean
  /** Where requests are traced. */
  tracer?: RequestTracer
  /** The marketplace's pages; without them there is a plain home page. */
  site?: Site
}

const API_MS = 30_000
/** Uploads come over slow lines; Node's own limit on receiving a request, 5 minutes, comes first. */
const UPLOAD_MS = 10 * 60_000
/** A call of an agent waits for its answer as long as the rest of the API may take. */
const CALL_MS = 45_000

/** Everything that answers requests, as one application. */
export function createApp(services: Services, options: AppOptions): OpenAPIHono<Env> {
  const { rooms, draining = () => false, tracer, site } = options
  const { config, log } = services
  const app = new OpenAPIHono<Env>({ getPath: routedPath })
  app.onError(answerError(log))
  app.notFound((c) =>
    answer(c, {
      code: 'endpoint_not_found',
      message: `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}.`,
      hint: `${config.publicUrl}/docs lists every path.`,
    }),
  )
  app.use(
    requestContext(config, log),
    observeRequests(services, tracer),
    securityHeaders(config),
    limitBodies(config),
    limitTime(timeLimit),
    handOverJson(),
  )
  app.route('/', healthRoutes(services, draining))
  app.route('/', metricsRoutes(services))
  app.route('/', assetRoutes())
  if (site !== undefined) app.use(mountSite(site, (request, bindings) => app.fetch(request, bindings)))
  app.use(authenticate(services))
  for (const room of rooms) app.route('/', room)
  mountDocumentation(app, config.publicUrl)
  return app
}

function timeLimit(path: string): number {
  if (/^\/v1\/(?:packages\/[^/]+\/[^/]+\/calls|chat\/completions)$/.test(path)) return CALL_MS
  return /^\/npm\/|^\/v1\/packages\/|^\/v1\/jobs\/[^/]+\/(?:checkpoint|agent)$/.test(path) ? UPLOAD_MS : API_MS
}

/** Document and pages are the same for everyone and made once, when the first reader asks. */
function mountDocumentation(app: OpenAPIHono<Env>, publicUrl: string): void {
  let document: ReturnType<typeof buildOpenApiDocument> | undefined
  let pages: ReturnType<typeof referencePages> | undefined
  const theDocument = () => {
    document ??= buildOpenApiDocument(app, publicUrl, version)
    return document
  }
  app.get('/v1/openapi.json', (c) => c.json(theDocument(), 200, { 'cache-control': 'public, max-age=60' }))
  app.get('/', (c) => c.html(homePage(publicUrl, version)))
  app.get('/docs/:page?', async (c, next) => {
    pages ??= referencePages(theDocument())
    const found = pages.get(c.req.path)
    if (found === undefined) return next()
    return c.html(found, 200, { 'cache-control': 'public, max-age=60' })
  })
}
