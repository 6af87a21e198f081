import { sql, type Transaction } from 'kysely'
import { ahead, sendAhead } from '../../core/database/flights.ts'
import { prepared } from '../../core/database/prepared-statements.ts'
import type { Schema } from '../../core/database/schema.ts'
import { violatedConstraint } from '../../core/database/violated-constraint.ts'
import type { NewOrder } from './new-order.ts'
import type { OrderView } from './orders.store.ts'

type Terms = { paid: boolean; minutes: number | null }

/**
 * Writes an order, the entitlement that it gives where it is paid, and who placed it, in one round trip.
 * @throws LicenceConflict where the buyer gets the same licence by another order at the same moment.
 */
export async function insertOrder(query: Transaction<Schema>, order: NewOrder, terms: Terms): Promise<OrderView> {
  const { rows } = await statementOf(order, terms).execute(query)
  if (rows.length === 0) throw new LicenceConflict()
  return viewOf(order, terms.paid)
}

/**
 * The same in one flight with the next statement, for an order that is paid. Where the buyer has such a licence by then the
 * transaction fails, which `isLicenceTaken` tells.
 */
export async function insertOrderAhead(query: Transaction<Schema>, order: NewOrder): Promise<OrderView> {
  const statement = statementOf(order, { paid: true, minutes: null, sentAhead: true })
  await sendAhead(query, statement.compile(query))
  return viewOf(order, true)
}

export function isLicenceTaken(error: unknown): boolean {
  return violatedConstraint(error) === 'entitlements_held_key'
}

function statementOf(order: NewOrder, { paid, minutes, sentAhead = false }: Terms & { sentAhead?: boolean }) {
  const { id, actor, buyer, subject, parts, royalty, payWith, runId, ip } = order
  const { price, version, seller, packageId } = subject
  const audited = {
    ...{ package: `${subject.name}@${version.version}`, buyer: buyer.username },
    ...{ total_minor: price.amountMinor, currency: price.currency },
  }
  const granted = sql`, granted as (
    insert into entitlements (order_id, holder_id, package_id, major)
    values (${id}, ${buyer.id}, ${packageId}, ${version.major}) ${sentAhead ? sql`` : sql`on conflict do nothing`}
    returning order_id
  )`
  const grants = paid && runId === null
  return sql`${prepared}${sentAhead ? ahead : sql``} with placed as (
      insert into orders (id, state, buyer_id, placed_by, token_id, seller_id, package_id, version_id, major, price_id,
        price_kind, total_minor, fee_minor, royalty_minor, royalty_to, currency, pay_with, run_id, expires_at, paid_at)
      values (${id}, ${paid ? 'paid' : 'awaiting_payment'}, ${buyer.id}, ${actor.accountId}, ${actor.tokenId}, ${seller.id},
        ${packageId}, ${version.id}, ${version.major}, ${price.id}, ${price.kind}, ${price.amountMinor},
        ${Number(parts.feeMinor)}, ${Number(parts.royaltyMinor)}, ${royalty?.to ?? null}, ${price.currency}, ${payWith},
        ${runId}, now() + ${paid ? null : minutes}::integer * interval '1 minute', ${paid ? sql`now()` : sql`null`})
      returning id
    ), noted as (
      insert into audit (actor_id, token_id, action, subject, ip, data)
      values (${actor.accountId}, ${actor.tokenId}, 'order.place', ${`order:${id}`}, ${ip}, ${JSON.stringify(audited)}::text::jsonb)
    )${grants ? granted : sql``}
    select from placed ${grants ? sql`join granted on granted.order_id = placed.id` : sql``}`
}

/** As `findOrderView` would give it: that would be the dearest statement of all. */
function viewOf({ id, actor, buyer, subject, payWith, runId }: NewOrder, paid: boolean): OrderView {
  return {
    ...{ id, state: paid ? 'paid' : 'awaiting_payment', package: subject.name, kind: subject.kind },
    ...{ version: subject.version.version, major: subject.version.major, price_kind: subject.price.kind },
    ...{ buyer_id: buyer.id, buyer: buyer.username, placed_by: actor.username },
    ...{ seller_id: subject.seller.id, seller: subject.seller.username },
    ...{ total_minor: subject.price.amountMinor, refunded_minor: 0, currency: subject.price.currency },
    ...{ pay_with: payWith, checkout_url: null, run_id: runId, used_at: null, refunds: null },
    ...{ created_at: subject.at, paid_at: paid ? subject.at : null, ended_at: null },
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
