import { healthSchema, type Readiness, readinessSchema } from '@agentgym/contract'
import type { DependencyName } from '../core/dependencies/outage.ts'
import { createRoutes, defineRoute } from '../core/http/route.ts'
import type { Services } from '../core/services.ts'

const healthRoute = defineRoute({
  method: 'get',
  path: '/healthz',
  access: 'anyone',
  unlogged: 'on_success',
  operationId: 'health',
  summary: 'Liveness check',
  responses: {
    200: { description: 'The process is running.', content: { 'application/json': { schema: healthSchema } } },
  },
})

const readinessRoute = defineRoute({
  method: 'get',
  path: '/readyz',
  access: 'anyone',
  unlogged: 'on_success',
  operationId: 'readiness',
  summary: 'Readiness check',
  description:
    'Probes the database and the object store; `down` names those that cannot be used. Load balancers should send requests only to servers that return 200.',
  responses: {
    200: { description: 'The server is ready.', content: { 'application/json': { schema: readinessSchema } } },
    503: {
      description: 'The database or the object store cannot be used, or the server is starting or shutting down.',
      content: { 'application/json': { schema: readinessSchema } },
    },
  },
})

/** `draining()` is true once the server starts to shut down: load balancers then stop sending requests. */
export function healthRoutes({ dependencies }: Pick<Services, 'dependencies'>, draining: () => boolean) {
  return createRoutes()
    .openapi(healthRoute, (c) => c.json({ ok: true }, 200))
    .openapi(readinessRoute, async (c) => {
      const readiness = readinessOf(await dependencies.check(), draining())
      return c.json(readiness, readiness.ok ? 200 : 503)
    })
}

/** The answer of `/readyz`. */
export function readinessOf(down: DependencyName[], draining: boolean): Readiness {
  const [database, objects] = [!down.includes('database'), !down.includes('storage')]
  return { ok: database && objects && !draining, database, objects, down, draining }
}
