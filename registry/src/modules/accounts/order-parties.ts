import type { Actor, Permission, Scope } from '../../core/access/actor.ts'
import { authorise, rank, requireActor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { accountAskedFor } from './account-asked-for.ts'

export type Party = { id: string; username: string }

/**
 * The account that something is for: whoever asks, or an organisation in which their role allows it. Give it the transaction
 * of the write. Throws `unauthenticated`, `account_not_found`, `forbidden`.
 */
export async function findParty(
  query: Queries,
  actor: Actor | null,
  account: string | undefined,
  { permission, scope }: { permission: Permission; scope: Scope },
): Promise<Party> {
  const known = requireActor(actor, scope)
  const hint = 'Name an organisation that you belong to, or leave it out for yourself.'
  const found = await accountAskedFor(query, known, account, hint)
  if (found.id !== known.accountId) await authorise(query, known, permission, found.id, { scope })
  return found
}

/** The accounts in which somebody has at least that role: their own, and organisations. */
export async function accountsWithRole(query: Queries, { accountId }: Actor, weakest: Role): Promise<string[]> {
  const rows = await query
    .selectFrom('memberships')
    .select(['organisation_id', 'role'])
    .where('user_id', '=', accountId)
    .execute()
  const allowed = rows.filter(({ role }) => rank[role] >= rank[weakest])
  return [accountId, ...allowed.map(({ organisation_id }) => organisation_id)]
}

/** Buyers and sellers both read what is theirs: either scope will do. */
export function readingScope(actor: Actor | null): Scope {
  return actor?.scopes.has('market:sell') && !actor.scopes.has('market:buy') ? 'market:sell' : 'market:buy'
}
