import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Schema } from '../../core/database/schema.ts'
import { TransactionConflict } from '../../core/database/transactions.ts'
import type { ServerConfig } from '../../core/services.ts'
import type { Party } from '../accounts/index.ts'
import { splitSale } from '../ledger/index.ts'
import type { OrderRow } from './order-state.ts'
import type { OrderSubject } from './order-subject.ts'
import { royaltyOf } from './sale.ts'

/** An order before it is placed: its parties, and how its price is shared. */
export type NewOrder = Omit<
  OrderRow,
  'state' | 'refunded_minor' | 'expires_at' | 'created_at' | 'paid_at' | 'ended_at' | 'token_id'
>

type Ordering = {
  actor: Actor
  buyer: Party
  subject: OrderSubject
  payWith: 'balance' | 'provider'
  runId: string | null
  /** How the buyer came to the package, if that is known. */
  source?: OrderRow['source']
}

/** Fixes the current price of an order and its parts. */
export async function newOrder(
  query: Transaction<Schema>,
  { market }: Pick<ServerConfig, 'market'>,
  { actor, buyer, subject, payWith, runId, source = null }: Ordering,
): Promise<NewOrder> {
  const { price, version, seller } = subject
  const { feeBasisPoints, royaltyCapBasisPoints: capBasisPoints } = market
  const isFree = price.amountMinor === 0
  const royalty =
    subject.kind === 'agent' && !isFree
      ? await royaltyOf(query, { versionId: version.id, sellerId: seller.id, capBasisPoints })
      : null
  const priceMinor = BigInt(price.amountMinor)
  const parts = isFree ? null : splitSale({ priceMinor, feeBasisPoints, royalty: royalty ?? undefined })
  return {
    id: randomUUID(),
    buyer_id: buyer.id,
    placed_by: actor.accountId,
    seller_id: seller.id,
    package_id: subject.packageId,
    version_id: version.id,
    major: version.major,
    price_id: price.id,
    price_kind: price.kind,
    total_minor: price.amountMinor,
    fee_minor: Number(parts?.feeMinor ?? 0n),
    royalty_minor: Number(parts?.royaltyMinor ?? 0n),
    royalty_to: parts === null || parts.royaltyMinor === 0n ? null : (royalty?.to ?? null),
    currency: price.currency,
    pay_with: payWith,
    run_id: runId,
    source: actor.tokenId === null ? source : 'command',
  }
}

type Placement = {
  actor: Actor
  buyer: Party
  subject: OrderSubject
  paid: boolean
  /** Minutes until an unpaid order expires; null: it does not expire. */
  minutes: number | null
  ip: string | null
}

/** Inserts an order, and the audit entry of the account that placed it. */
export async function insertOrder(
  query: Transaction<Schema>,
  order: NewOrder,
  { actor, buyer, subject, paid, minutes, ip }: Placement,
): Promise<void> {
  await query
    .insertInto('orders')
    .values({
      ...order,
      token_id: actor.tokenId,
      state: paid ? 'paid' : 'awaiting_payment',
      paid_at: paid ? sql<Date>`now()` : null,
      expires_at: paid || minutes === null ? null : sql<Date>`now() + ${minutes} * interval '1 minute'`,
    })
    .execute()
  await recordAudit(query, {
    ...{ actor, ip, action: 'order.place', subject: `order:${order.id}` },
    data: {
      ...{ package: `${subject.name}@${subject.version.version}`, buyer: buyer.username },
      ...{ total_minor: order.total_minor, currency: order.currency },
    },
  })
}

/**
 * Grants the license of a paid order to the buyer.
 * @throws TransactionConflict if another order gave the buyer this license at the same moment.
 */
export async function grantEntitlement(
  query: Transaction<Schema>,
  { id, buyer_id, package_id, major }: Pick<OrderRow, 'id' | 'buyer_id' | 'package_id' | 'major'>,
): Promise<void> {
  const granted = await query
    .insertInto('entitlements')
    .values({ order_id: id, holder_id: buyer_id, package_id, major })
    .onConflict((conflict) => conflict.doNothing())
    .returning('order_id')
    .executeTakeFirst()
  if (granted === undefined) throw new TransactionConflict('another order gave the buyer this license')
}
