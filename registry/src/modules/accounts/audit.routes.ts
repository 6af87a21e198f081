import { auditListSchema, auditRequestSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { listAudit } from './audit-list.ts'

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/audit',
  access: { operator: 'account:manage' },
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
