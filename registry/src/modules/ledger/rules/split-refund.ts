import assert from 'node:assert'
import type { SaleParts } from './split-sale.ts'

/**
 * What each party gives back of a refund of `amountMinor`, `refundedMinor` of the order having been refunded before. The
 * parts sum to the amount and none is negative; over refunds that sum to the price each part comes back exactly, however
 * the refunds were cut.
 *
 * Told as the difference of two sums, before and after. Floors of each part alone would not do: fee and royalty might both
 * grow by one where the refund is of one, and the seller's part would be negative. So the fee is floored, and the royalty is
 * floored within what the fee leaves; each of the three sums only grows as more is refunded.
 */
export function splitRefund(
  sale: SaleParts,
  { refundedMinor, amountMinor }: { refundedMinor: bigint; amountMinor: bigint },
): SaleParts {
  const priceMinor = sale.feeMinor + sale.royaltyMinor + sale.sellerMinor
  assert(
    refundedMinor >= 0n && amountMinor > 0n && refundedMinor + amountMinor <= priceMinor,
    `a refund of ${amountMinor} after ${refundedMinor} is not within the price of ${priceMinor}`,
  )
  const before = refundedParts(sale, refundedMinor)
  const after = refundedParts(sale, refundedMinor + amountMinor)
  return {
    feeMinor: after.feeMinor - before.feeMinor,
    royaltyMinor: after.royaltyMinor - before.royaltyMinor,
    sellerMinor: after.sellerMinor - before.sellerMinor,
  }
}

/** What each has given back once `refundedMinor` of the price is refunded. */
function refundedParts({ feeMinor, royaltyMinor, sellerMinor }: SaleParts, refundedMinor: bigint): SaleParts {
  const beyondFee = royaltyMinor + sellerMinor
  const fee = (refundedMinor * feeMinor) / (feeMinor + beyondFee)
  const rest = refundedMinor - fee
  const royalty = beyondFee === 0n ? 0n : (rest * royaltyMinor) / beyondFee
  return { feeMinor: fee, royaltyMinor: royalty, sellerMinor: rest - royalty }
}
