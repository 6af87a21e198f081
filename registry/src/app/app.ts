import { OpenAPIHono } from '@hono/zod-openapi'
import type { Hono, MiddlewareHandler } from 'hono'
import { answer, answerError } from '../core/http/answer-error.ts'
import type { Env, FailureFormat } from '../core/http/env.ts'
import { handOverJson } from '../core/http/hand-over-json.ts'
import { observeRequests } from '../core/http/observe-requests.ts'
import { assetRoutes } from '../core/http/pages/assets.routes.ts'
import { requestContext } from '../core/http/request-context.ts'
import { limitBodies, limitTime } from '../core/http/request-limits.ts'
import { routedPath } from '../core/http/routed-path.ts'
import { securityHeaders } from '../core/http/security-headers.ts'
import { mountSite, type Site } from '../core/http/site.ts'
import type { RequestTracer } from '../core/observability/request-tracer.ts'
import type { Services } from '../core/services.ts'
import { version } from '../core/version.ts'
import { authenticate } from '../modules/accounts/authenticate.ts'
import { openAiFailures } from '../modules/hosting/openai-errors.ts'
import { npmFailures } from '../modules/npm/npm-errors.ts'
import { healthRoutes } from './health.routes.ts'
import { metricsRoutes } from './metrics.routes.ts'
import { buildOpenApiDocument } from './openapi-document.ts'
import { homePage } from './pages/home-page.ts'
import { referencePages } from './pages/reference-pages.ts'

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
  for (const [path, format] of failureFormats) app.use(path, setFailureFormat(format))
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

/** Paths whose clients read failures in a format of their own, refusals before routing included. */
const failureFormats: [path: string, format: FailureFormat][] = [
  ['/npm/*', npmFailures],
  ['/v1/chat/completions', openAiFailures],
  ['/v1/models', openAiFailures],
]

function setFailureFormat(format: FailureFormat): MiddlewareHandler<Env> {
  return async (c, next) => {
    c.set('failureFormat', format)
    await next()
  }
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
