import type { SaleParts } from '../ledger/rules/split-sale.ts'
import type { OrderRow } from './order-state.ts'
import type { Sale } from './sale-transfers.ts'

/** Who pays whom how much for an order, as it was fixed when it was placed. */
export function saleOfOrder(order: OrderRow): Sale {
  return {
    ...{ orderId: order.id, buyerId: order.buyer_id, sellerId: order.seller_id, royaltyTo: order.royalty_to },
    ...{ parts: partsOfOrder(order), currency: order.currency },
  }
}

export function partsOfOrder(order: Pick<OrderRow, 'total_minor' | 'fee_minor' | 'royalty_minor'>): SaleParts {
  const [feeMinor, royaltyMinor] = [BigInt(order.fee_minor), BigInt(order.royalty_minor)]
  return { feeMinor, royaltyMinor, sellerMinor: BigInt(order.total_minor) - feeMinor - royaltyMinor }
}
