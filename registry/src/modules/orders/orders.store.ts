import type { Order, OrderState, PriceKind } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'

/** An order with all names and the refunded amount. */
type OrderView = {
  id: string
  state: OrderState
  package: string
  kind: 'scenario' | 'agent'
  version: string
  major: number
  price_kind: PriceKind
  buyer_id: string
  buyer: string
  placed_by: string
  seller_id: string
  seller: string
  total_minor: number
  refunded_minor: number
  currency: string
  pay_with: 'balance' | 'provider'
  checkout_url: string | null
  run_id: string | null
  used_at: Date | null
  refunds: { id: string; amount_minor: number; reason: string; by: string; created_at: string }[] | null
  created_at: Date
  paid_at: Date | null
  ended_at: Date | null
}

const view = sql`
  select orders.id, orders.state, packages.name as package, packages.kind, versions.version, orders.major, orders.price_kind,
    orders.buyer_id, buyer.username as buyer, placer.username as placed_by, orders.seller_id, seller.username as seller,
    orders.total_minor, orders.refunded_minor, orders.currency, orders.pay_with, orders.run_id, entitlements.used_at,
    case when orders.state = 'awaiting_payment' then (select checkout_url from payments
      where order_id = orders.id and state = 'pending' order by created_at desc limit 1) end as checkout_url,
    case when orders.refunded_minor > 0 then (select json_agg(json_build_object('id', refunds.id,
        'amount_minor', refunds.amount_minor, 'reason', refunds.reason, 'by', coalesce(giver.username, 'agentgym'),
        'created_at', refunds.created_at) order by refunds.created_at, refunds.id)
      from refunds left join accounts giver on giver.id = refunds.given_by where refunds.order_id = orders.id) end as refunds,
    orders.created_at, orders.paid_at, orders.ended_at
  from orders
  join packages on packages.id = orders.package_id
  join versions on versions.id = orders.version_id
  join accounts buyer on buyer.id = orders.buyer_id
  join accounts placer on placer.id = orders.placed_by
  join accounts seller on seller.id = orders.seller_id
  left join entitlements on entitlements.order_id = orders.id`

export async function findOrderView(query: Queries, id: string): Promise<OrderView | undefined> {
  const { rows } = await sql<OrderView>`${view} where orders.id = ${id}`.execute(query)
  return rows[0]
}

type OrderFilter = {
  role: 'purchases' | 'sales'
  accounts: string[]
  state?: OrderState
  package?: string
  after: PageEnd | null
  limit: number
}

/** Newest first. */
export async function listOrderViews(
  query: Queries,
  { role, accounts, state, package: name, after, limit }: OrderFilter,
): Promise<OrderView[]> {
  const owner = role === 'purchases' ? sql.ref('orders.buyer_id') : sql.ref('orders.seller_id')
  const conditions = [
    sql`${owner} = request.account_id`,
    ...(state === undefined ? [] : [sql`orders.state = ${state}`]),
    ...(name === undefined ? [] : [sql`orders.package_id = (select id from packages where packages.name = ${name})`]),
    ...(after === null ? [] : [sql`(orders.created_at, orders.id) < (${new Date(after.key)}, ${after.id})`]),
  ]
  // The newest of each account by its index, and of those the newest.
  const newest = sql`
    select found.id from unnest(${`{${accounts.join(',')}}`}::text::uuid[]) as request (account_id)
    cross join lateral (
      select orders.id, orders.created_at from orders where ${sql.join(conditions, sql` and `)}
      order by orders.created_at desc, orders.id desc limit ${limit}) as found
    order by found.created_at desc, found.id desc limit ${limit}`
  const { rows } = await sql<OrderView>`${view} where orders.id = any(array(${newest}))
    order by orders.created_at desc, orders.id desc`.execute(query)
  return rows
}

/** Days in which a buyer can refund what they have not used. */
const refundDays = 14

export function orderOf(view: OrderView, at = new Date()): Order {
  const { buyer_id: _buyer, seller_id: _seller, used_at: _used, major, run_id: run, refunds, ...rest } = view
  return {
    ...rest,
    covers: covers(major),
    run,
    refunds: (refunds ?? []).map((refund) => ({ ...refund, created_at: new Date(refund.created_at).toISOString() })),
    refundable: refundableByBuyer(view, at),
    created_at: view.created_at.toISOString(),
    paid_at: view.paid_at?.toISOString() ?? null,
    ended_at: view.ended_at?.toISOString() ?? null,
  }
}

/** The versions that a license covers. */
export function covers(major: number): string {
  return `${major}.x`
}

type Refundable = Pick<OrderView, 'state' | 'total_minor' | 'run_id' | 'used_at' | 'paid_at'>

/** Whether the buyer can refund all of it without the seller, and if not, why. */
export function refundableByBuyer(
  { state, total_minor: total, run_id: run, used_at: usedAt, paid_at: paidAt }: Refundable,
  at = new Date(),
): Order['refundable'] {
  if (state !== 'paid' || paidAt === null) return no(`It is ${state.replace('_', ' ')}.`)
  if (total === 0) return no('It cost nothing.')
  if (run !== null) return no('The training run it paid for has started.')
  if (usedAt !== null) return no(`It was first used at ${usedAt.toISOString()}; the seller can still refund it.`)
  const until = new Date(paidAt.getTime() + refundDays * 86_400_000)
  if (at >= until) return no(`The ${refundDays}-day refund period has ended; the seller can still refund it.`)
  return { by_buyer: true, why: `Until ${until.toISOString()}, if it is unused.` }
}

const no = (why: string) => ({ by_buyer: false, why })
