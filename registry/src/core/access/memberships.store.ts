import type { Queries } from '../database/database.ts'
import type { Role } from '../database/schema.ts'

/** Null if not a member. `hold` locks the membership until the transaction ends, which delays its removal. */
export async function roleIn(
  query: Queries,
  organizationId: string,
  userId: string,
  { hold = false }: { hold?: boolean } = {},
): Promise<Role | null> {
  const row = await query
    .selectFrom('memberships')
    .select('role')
    .where('organisation_id', '=', organizationId)
    .where('user_id', '=', userId)
    .$if(hold, (select) => select.forShare())
    .executeTakeFirst()
  return row?.role ?? null
}

export async function organizationsOf(query: Queries, userId: string): Promise<{ username: string; role: Role }[]> {
  return query
    .selectFrom('memberships')
    .innerJoin('accounts', 'accounts.id', 'memberships.organisation_id')
    .select(['accounts.username', 'memberships.role'])
    .where('memberships.user_id', '=', userId)
    .orderBy('accounts.username')
    .execute()
}

export async function membersOf(query: Queries, organizationId: string): Promise<{ username: string; role: Role }[]> {
  return query
    .selectFrom('memberships')
    .innerJoin('accounts', 'accounts.id', 'memberships.user_id')
    .select(['accounts.username', 'memberships.role'])
    .where('memberships.organisation_id', '=', organizationId)
    .orderBy('accounts.username')
    .execute()
}

/** Adds a member, or changes the role of one. */
export async function putMember(query: Queries, organizationId: string, userId: string, role: Role): Promise<void> {
  await query
    .insertInto('memberships')
    .values({ organisation_id: organizationId, user_id: userId, role })
    .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).doUpdateSet({ role }))
    .execute()
}

export async function removeMember(query: Queries, organizationId: string, userId: string): Promise<void> {
  await query
    .deleteFrom('memberships')
    .where('organisation_id', '=', organizationId)
    .where('user_id', '=', userId)
    .execute()
}

export async function countOwners(query: Queries, organizationId: string): Promise<number> {
  const row = await query
    .selectFrom('memberships')
    .select((expression) => expression.fn.countAll<string>().as('owners'))
    .where('organisation_id', '=', organizationId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow()
  return Number(row.owners)
}
