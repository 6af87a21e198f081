import type { AuditList, auditRequestSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../core/access/actor.ts'
import { requireOperator } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'

/** The audit log, newest first, for operators. Throws `unauthenticated`, `forbidden`. */
export async function listAudit(
  query: Queries,
  actor: Actor | null,
  { limit, ...wanted }: z.output<typeof auditRequestSchema>,
): Promise<AuditList> {
  requireOperator(actor, 'account:manage')
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
