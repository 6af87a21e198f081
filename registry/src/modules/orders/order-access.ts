import { type Actor, requireActor } from '../../core/access/authorise.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { readingScope } from '../accounts/organisations.ts'
import { orderNotFound } from './order-state.ts'

type Parties = { buyer_id: string; seller_id: string }

/** What somebody is to an order. */
export type Standing = { actor: Actor; buys: boolean; sells: boolean; operates: boolean }

/**
 * What whoever asks may do with an order: members of the buyer buy, admins of the seller sell, operators of the installation
 * may look at any. Throws `order_not_found` for all others, as for an order that is not there. Give it the transaction of the
 * write that it permits.
 */
export async function requireStanding(query: Queries, asking: Actor | null, id: string): Promise<Standing> {
  const actor = requireActor(asking, readingScope(asking))
  const order = await query
    .selectFrom('orders')
    .select(['buyer_id', 'seller_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (order === undefined) throw orderNotFound(id)
  const standing = { actor, ...(await sidesOf(query, actor, order)), operates: actor.operator }
  if (!standing.buys && !standing.sells && !standing.operates) throw orderNotFound(id)
  return standing
}

async function sidesOf(query: Queries, actor: Actor, order: Parties): Promise<{ buys: boolean; sells: boolean }> {
  const has = async (account: string, roles: Role[]) => {
    if (account === actor.accountId) return true
    const role = await roleIn(query, account, actor.accountId)
    return role !== null && roles.includes(role)
  }
  return {
    buys: await has(order.buyer_id, ['member', 'admin', 'owner']),
    sells: await has(order.seller_id, ['admin', 'owner']),
  }
}

/** For what only those may do who buy. Throws `order_not_found`, `forbidden` where the token may not. */
export async function requireBuyersOrder(query: Queries, asking: Actor | null, id: string): Promise<Actor> {
  const { actor, buys } = await requireStanding(query, asking, id)
  if (!buys) throw orderNotFound(id)
  return requireActor(actor, 'market:buy')
}
