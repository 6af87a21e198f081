import { sql, type Transaction } from 'kysely'
import { prepared } from '../../database/prepared-statements.ts'
import type { Schema } from '../../database/schema.ts'
import type { NewOrder } from './new-order.ts'
import type { OrderView } from './orders.store.ts'

/**
 * Writes an order, the entitlement that it gives where it is paid, and who placed it, in one round trip.
 * @throws LicenceConflict where the buyer gets the same licence by another order at the same moment.
 */
export async function insertOrder(
  query: Transaction<Schema>,
  order: NewOrder,
  { paid, minutes }: { paid: boolean; minutes: number | null },
): Promise<OrderView> {
  const { id, actor, buyer, subject, parts, royalty, payWith, runId, ip } = order
  const { price, version, seller } = subject
  const placed = query
    .with('placed', (db) =>
      db
        .insertInto('orders')
        .values({
          id,
          state: paid ? 'paid' : 'awaiting_payment',
          buyer_id: buyer.id,
          placed_by: actor.accountId,
          token_id: actor.tokenId,
          seller_id: seller.id,
          package_id: subject.packageId,
          version_id: version.id,
          major: version.major,
          price_id: price.id,
          price_kind: price.kind,
          total_minor: price.amountMinor,
          fee_minor: Number(parts.feeMinor),
          royalty_minor: Number(parts.royaltyMinor),
          royalty_to: royalty?.to ?? null,
          currency: price.currency,
          pay_with: payWith,
          run_id: runId,
          expires_at: paid || minutes === null ? null : sql<Date>`now() + ${minutes} * interval '1 minute'`,
          paid_at: paid ? sql<Date>`now()` : null,
        })
        .returning(['id', 'created_at']),
    )
    .with('noted', (db) => db.insertInto('audit').values(auditEntry(order, ip)).returning('id'))
  const row = await (paid && runId === null
    ? placed
        .with('granted', (db) =>
          db
            .insertInto('entitlements')
            .values({ order_id: id, holder_id: buyer.id, package_id: subject.packageId, major: version.major })
            .onConflict((conflict) => conflict.doNothing())
            .returning('order_id'),
        )
        .selectFrom('placed')
        .innerJoin('granted', 'granted.order_id', 'placed.id')
        .select('placed.created_at')
        .modifyEnd(prepared)
    : placed.selectFrom('placed').select('placed.created_at').modifyEnd(prepared)
  ).executeTakeFirst()
  if (row === undefined) throw new LicenceConflict()
  return viewOf(order, paid, row.created_at)
}

function auditEntry({ id, actor, buyer, subject }: NewOrder, ip: string | null) {
  return {
    actor_id: actor.accountId,
    token_id: actor.tokenId,
    action: 'order.place',
    subject: `order:${id}`,
    ip,
    data: {
      package: `${subject.name}@${subject.version.version}`,
      buyer: buyer.username,
      total_minor: subject.price.amountMinor,
      currency: subject.price.currency,
    },
  }
}

/** As `findOrderView` would give it: that would be the dearest statement of all. */
function viewOf({ id, actor, buyer, subject, payWith, runId }: NewOrder, paid: boolean, createdAt: Date): OrderView {
  return {
    ...{ id, state: paid ? 'paid' : 'awaiting_payment', package: subject.name, kind: subject.kind },
    ...{ version: subject.version.version, major: subject.version.major, price_kind: subject.price.kind },
    ...{ buyer_id: buyer.id, buyer: buyer.username, placed_by: actor.username },
    ...{ seller_id: subject.seller.id, seller: subject.seller.username },
    ...{ total_minor: subject.price.amountMinor, refunded_minor: 0, currency: subject.price.currency },
    ...{ pay_with: payWith, checkout_url: null, run_id: runId, used_at: null, refunds: null },
    ...{ created_at: createdAt, paid_at: paid ? createdAt : null, ended_at: null },
  }
}

/**
 * The code is that of PostgreSQL's own serialization failures, so that `database.transaction` runs its work again: by then it
 * sees the other order.
 */
export class LicenceConflict extends Error {
  readonly code = '40001'

  constructor() {
    super('the buyer gets this licence by another order: the transaction must be run again')
  }
}
