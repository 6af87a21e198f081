import { auditListSchema, auditRequestSchema } from '@agentgym/contract'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { createRoutes } from '../../core/http/create-routes.ts'
import type { Env } from '../../core/http/env.ts'
import { failures } from '../../core/http/failures.ts'
import type { Services } from '../../core/services.ts'
import { listAudit } from './audit-list.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/v1/audit',
  operationId: 'listAudit',
  summary: 'The audit log, for operators',
  description: 'Who did what, newest first. Entries are never changed or deleted.',
  request: { query: auditRequestSchema },
  responses: {
    200: { description: 'One page.', content: { 'application/json': { schema: auditListSchema } } },
    ...failures('unauthenticated', 'forbidden'),
  },
})

export function auditRoutes({ database }: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(listRoute, async (c) =>
    c.json(await listAudit(database.query, c.get('actor'), c.req.valid('query')), 200),
  )
  return routes
}
