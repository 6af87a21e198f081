import type { Transaction } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig } from '../../core/services.ts'
import type { Party } from '../accounts/order-parties.ts'
import { type SaleParts, splitSale } from '../ledger/rules/split-sale.ts'
import type { OrderSubject } from './order-subject.ts'
import { type Royalty, royaltyOf } from './royalty-of.ts'
import type { Sale } from './sale-transfers.ts'

/** An order before it is written down. */
export type NewOrder = {
  id: string
  actor: Actor
  buyer: Party
  subject: OrderSubject
  parts: SaleParts
  royalty: Royalty | null
  payWith: 'balance' | 'provider'
  runId: string | null
  ip: string | null
}

const nothing: SaleParts = { feeMinor: 0n, royaltyMinor: 0n, sellerMinor: 0n }

/** Who gets what of the price at this moment. */
export async function partsOf(
  { market }: Pick<ServerConfig, 'market'>,
  query: Transaction<Schema>,
  { price, kind, version, seller }: OrderSubject,
): Promise<{ parts: SaleParts; royalty: Royalty | null }> {
  if (price.amountMinor === 0) return { parts: nothing, royalty: null }
  const asked = {
    ...{ versionId: version.id, sellerId: seller.id, capBasisPoints: market.royaltyCapBasisPoints },
    currency: price.currency,
  }
  const royalty = kind === 'agent' ? await royaltyOf(query, asked) : null
  const priceMinor = BigInt(price.amountMinor)
  const parts = splitSale({ priceMinor, feeBasisPoints: market.feeBasisPoints, royalty: royalty ?? undefined })
  return { parts, royalty: parts.royaltyMinor === 0n ? null : royalty }
}

export function saleOf({ id, buyer, subject, royalty, parts }: NewOrder): Sale {
  return {
    ...{ orderId: id, buyerId: buyer.id, sellerId: subject.seller.id, royaltyTo: royalty?.to ?? null },
    ...{ parts, currency: subject.price.currency },
  }
}
