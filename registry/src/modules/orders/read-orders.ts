import type {
  entitlementListRequestSchema,
  entitlementListSchema,
  Order,
  orderListRequestSchema,
} from '@agentgym/contract'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Actor } from '../../core/access/authorize.ts'
import { requireActor } from '../../core/access/authorize.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { Queries } from '../../core/database/database.ts'
import { endByCreation, type PageEnd, readPage } from '../../core/database/page-cursor.ts'
import type { Role } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { accountsWithRole, findParty, readingScope } from '../accounts/index.ts'
import { findablePackageName } from '../packages/index.ts'
import { orderNotFound } from './order-state.ts'
import { covers, findOrderView, listOrderViews, orderOf } from './orders.store.ts'

type Base = Pick<Services, 'database' | 'config'>

/** Throws `order_not_found`, also for others' orders. */
export async function showOrder({ database }: Base, actor: Actor | null, id: string): Promise<Order> {
  await requireOrderAccess(database.query, actor, id)
  const view = await findOrderView(database.query, id)
  if (view === undefined) throw orderNotFound(id)
  return orderOf(view)
}

/**
 * One page of purchases or sales, of all accounts in which the user's role allows it, or of the named one. Throws
 * `account_not_found`, `forbidden`.
 */
export async function listOrders(
  { database: { query }, config }: Base,
  actor: Actor | null,
  { cursor, limit, ...filter }: z.output<typeof orderListRequestSchema>,
): Promise<{ orders: Order[]; next_cursor: string | null }> {
  const scope = readingScope(actor)
  const known = requireActor(actor, scope)
  const buys = filter.role === 'purchases'
  const accounts =
    filter.account === undefined
      ? await accountsWithRole(query, known, buys ? 'member' : 'admin')
      : [(await findParty(query, known, filter.account, { permission: buys ? 'publish' : 'manage', scope })).id]
  const name = filter.package === undefined ? undefined : findablePackageName(filter.package)
  if (name === null) return { orders: [], next_cursor: null }
  const listKey = listKeyOf('orders', known, filter)
  const { role, state } = filter
  const { rows, next_cursor } = await readPage(
    { secret: config.secret, listKey, cursor, limit, endOf: endByCreation },
    (range) => listOrderViews(query, { role, accounts, state, package: name, ...range }),
  )
  return { orders: rows.map((view) => orderOf(view)), next_cursor }
}

/** Licenses of the user and their organizations. */
export async function listEntitlements(
  { database: { query }, config }: Base,
  actor: Actor | null,
  { cursor, limit, account }: z.output<typeof entitlementListRequestSchema>,
): Promise<z.infer<typeof entitlementListSchema>> {
  const scope = readingScope(actor)
  const known = requireActor(actor, scope)
  const holders =
    account === undefined
      ? await accountsWithRole(query, known, 'viewer')
      : [(await findParty(query, known, account, { permission: 'read', scope })).id]
  const { rows, next_cursor } = await readPage(
    {
      ...{ secret: config.secret, listKey: listKeyOf('entitlements', known, { account }), cursor, limit },
      endOf: (row: { order_id: string; granted_at: Date }) => ({ id: row.order_id, key: row.granted_at.getTime() }),
    },
    (range) => heldBy(query, holders, range),
  )
  return {
    entitlements: rows.map((row) => ({
      ...{ package: row.name, kind: row.kind, covers: covers(row.major), holder: row.username, order: row.order_id },
      granted_at: row.granted_at.toISOString(),
    })),
    next_cursor,
  }
}

type Held = {
  order_id: string
  major: number
  granted_at: Date
  name: string
  kind: 'scenario' | 'agent'
  username: string
}

/** The newest of each holder by its index, and of those the newest. */
async function heldBy(
  query: Queries,
  holders: string[],
  { after, limit }: { after: PageEnd | null; limit: number },
): Promise<Held[]> {
  const isAfter =
    after === null ? sql`true` : sql`(granted_at, order_id) < (${new Date(after.key)}::timestamptz, ${after.id}::uuid)`
  const newest = sql`order by granted_at desc, order_id desc limit ${limit}`
  const { rows } = await sql<Held>`
    select held.order_id, held.major, held.granted_at, packages.name, packages.kind, accounts.username
    from (
      select found.* from unnest(${sql.val(holders)}::uuid[]) as request (holder_id)
      cross join lateral (
        select order_id, package_id, entitlements.holder_id, major, granted_at from entitlements
        where entitlements.holder_id = request.holder_id and revoked_at is null and ${isAfter} ${newest}) found
      ${newest}
    ) held
    join packages on packages.id = held.package_id join accounts on accounts.id = held.holder_id
    order by held.granted_at desc, held.order_id desc`.execute(query)
  return rows
}

/** A cursor is valid for one list of one account with one filter. */
function listKeyOf(list: string, { accountId }: Actor, filter: Record<string, unknown>): string {
  return JSON.stringify([list, accountId, Object.entries(filter).sort()])
}

type Parties = { buyer_id: string; seller_id: string }

/** The caller's roles in an order. */
export type OrderAccess = { actor: Actor; buys: boolean; sells: boolean; operates: boolean }

/**
 * The caller's permissions for an order: members of the buyer act as buyer, admins of the seller as seller, and
 * operators may view any order. Throws `order_not_found` for everyone else, as for a missing order. Pass the
 * transaction of the write.
 */
export async function requireOrderAccess(query: Queries, asking: Actor | null, id: string): Promise<OrderAccess> {
  const actor = requireActor(asking, readingScope(asking))
  const order = await query
    .selectFrom('orders')
    .select(['buyer_id', 'seller_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (order === undefined) throw orderNotFound(id)
  const access = { actor, ...(await sidesOf(query, actor, order)), operates: actor.operator }
  if (!access.buys && !access.sells && !access.operates) throw orderNotFound(id)
  return access
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

/** For actions of the buyer. Throws `order_not_found`, or `forbidden` if the token may not do it. */
export async function requireBuyersOrder(query: Queries, asking: Actor | null, id: string): Promise<Actor> {
  const { actor, buys } = await requireOrderAccess(query, asking, id)
  if (!buys) throw orderNotFound(id)
  return requireActor(actor, 'market:buy')
}
