import { healthSchema, readinessSchema } from '@agentgym/contract'
import { sql } from 'kysely'
import { describe } from '../core/http/answer-error.ts'
import { createRoutes, defineRoute } from '../core/http/route.ts'
import type { Services } from '../core/services.ts'

/** No object has this hash: checking it costs a store one look-up. */
const NO_OBJECT = `sha256/${'0'.repeat(64)}`
const PROBE_MS = 3_000

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
    'Checks the database and the object store. Load balancers should send requests only to servers that return 200.',
  responses: {
    200: { description: 'The server is ready.', content: { 'application/json': { schema: readinessSchema } } },
    503: {
      description: 'The database or the object store does not respond, or the server is shutting down.',
      content: { 'application/json': { schema: readinessSchema } },
    },
  },
})

/** `draining()` is true once the server begins to stop: load balancers then stop sending requests. */
export function healthRoutes({ database, objects, log }: Services, draining: () => boolean) {
  const works = async (part: string, probe: Promise<unknown>): Promise<boolean> => {
    try {
      await withinTime(probe)
      return true
    } catch (error) {
      log.warn('a part does not answer', { part, error: describe(error) })
      return false
    }
  }
  return createRoutes()
    .openapi(healthRoute, (c) => c.json({ ok: true }, 200))
    .openapi(readinessRoute, async (c) => {
      const [databaseWorks, objectsWork] = await Promise.all([
        works('database', sql`select 1`.execute(database.query)),
        works('objects', objects.has(NO_OBJECT)),
      ])
      const ok = databaseWorks && objectsWork && !draining()
      return c.json({ ok, database: databaseWorks, objects: objectsWork, draining: draining() }, ok ? 200 : 503)
    })
}

async function withinTime(probe: Promise<unknown>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_MS} ms`)), PROBE_MS)
  try {
    await Promise.race([probe, promise])
  } finally {
    clearTimeout(timer)
  }
}
