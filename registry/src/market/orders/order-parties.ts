import { AgentGymError } from '@agentgym/contract'
import type { Actor, Permission, Scope } from '../../auth/actor.ts'
import { authorise, requireActor } from '../../auth/authorise.ts'
import type { Queries } from '../../database/database.ts'
import type { Role } from '../../database/schema.ts'

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
  const wanted = account?.toLowerCase()
  if (wanted === undefined || wanted === known.username) return { id: known.accountId, username: known.username }
  const found = await query
    .selectFrom('accounts')
    .select(['id', 'username'])
    .where('username', '=', wanted)
    .executeTakeFirst()
  if (found === undefined)
    throw new AgentGymError({
      code: 'account_not_found',
      message: `There is no account "${wanted}".`,
      hint: 'Name an organisation that you belong to, or leave it out for yourself.',
      data: { field: 'account' },
    })
  await authorise(query, known, permission, found.id, { scope })
  return found
}

const rank: Record<Role, number> = { viewer: 1, member: 2, admin: 3, owner: 4 }

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
