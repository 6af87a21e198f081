import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'

/**
 * A condition on rows of `packages`: those whose existence the actor may know of. What `authorise(…, 'read')` says of one
 * package, for queries over many: public ones are everybody's, private ones belong to the members of their account, whatever
 * their role, asking by session or by a token with the scope `packages:read`. What was taken down, lists show to its members.
 */
export function visiblePackages(actor: Actor | null): RawBuilder<SqlBool> {
  const listed = sql`packages.visibility = 'public' and packages.taken_down_at is null`
  if (!readsPrivate(actor)) return sql<SqlBool>`(${listed})`
  return sql<SqlBool>`(${listed} or ${ownPackages(actor)})`
}

/** A condition on rows of `packages`: those of the actor and of the organisations that the actor belongs to. */
export function ownPackages(actor: Actor): RawBuilder<SqlBool> {
  return sql<SqlBool>`(packages.owner_id = ${actor.accountId} or packages.owner_id in (
    select organisation_id from memberships where user_id = ${actor.accountId}))`
}

export function readsPrivate(actor: Actor | null): actor is Actor {
  return actor?.scopes.has('packages:read') ?? false
}
