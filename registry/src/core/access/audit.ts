import type { AuditAction } from '@agentgym/contract'
import type { Queries } from '../database/database.ts'
import type { Actor } from './authorize.ts'

export type AuditEntry = {
  /** The account that did it; null if unknown. */
  actor: Pick<Actor, 'accountId' | 'tokenId'> | null
  action: AuditAction
  /** What it was done to: `@acme/maze@1.0.0`, `account:acme`. Never a secret. */
  subject: string
  ip: string | null
  data?: Record<string, unknown>
}

/**
 * Appends to the audit log. Pass the transaction of the recorded change, so that neither exists without the other; the
 * database refuses to change or delete an entry.
 */
export async function recordAudit(
  query: Queries,
  { actor, action, subject, ip, data = {} }: AuditEntry,
): Promise<void> {
  await query
    .insertInto('audit')
    .values({
      actor_id: actor?.accountId ?? null,
      token_id: actor?.tokenId ?? null,
      action,
      subject,
      ip,
      data,
    })
    .execute()
}
