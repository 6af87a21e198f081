import { type AuditList, auditListSchema, auditRequestSchema } from '@agentgym/contract'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { z } from 'zod'
import type { Queries } from '../../core/database/database.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/audit',
  access: { operator: 'account:manage' },
  operationId: 'listAudit',
  summary: 'The audit log (operators)',
  description: 'Who did what, newest first. Entries are never changed or deleted.',
  request: { query: auditRequestSchema },
  responses: {
    200: { description: 'One page.', content: { 'application/json': { schema: auditListSchema } } },
    ...failures('unauthenticated', 'forbidden'),
  },
})

export function auditRoutes({ database }: Services): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(listRoute, async (c) => c.json(await listAudit(database.query, c.req.valid('query')), 200))
  return routes
}

/** The audit log, newest first. */
async function listAudit(
  query: Queries,
  { limit, ...wanted }: z.output<typeof auditRequestSchema>,
): Promise<AuditList> {
  const found = await query
    .selectFrom('audit')
    .leftJoin('accounts', 'accounts.id', 'audit.actor_id')
    .select(['audit.id', 'audit.at', 'accounts.username', 'audit.token_id', 'audit.action', 'audit.subject'])
    .select(['audit.ip', 'audit.data'])
    .$if(wanted.before !== undefined, (select) => select.where('audit.id', '<', wanted.before ?? 0))
    .$if(wanted.actor !== undefined, (select) => select.where('accounts.username', '=', wanted.actor ?? ''))
    .$if(wanted.subject !== undefined, (select) => select.where('audit.subject', '=', wanted.subject ?? ''))
    .$if(wanted.action !== undefined, (select) =>
      select.where((where) => where.fn('starts_with', ['audit.action', where.val(wanted.action ?? '')]), '=', true),
    )
    .orderBy('audit.id', 'desc')
    .limit(limit + 1)
    .execute()
  const page = found.slice(0, limit)
  return {
    entries: page.map(({ id, at, username, ...entry }) => ({
      ...entry,
      id: Number(id),
      at: at.toISOString(),
      actor: username,
    })),
    next_before: found.length > limit ? Number(page[page.length - 1].id) : null,
  }
}
