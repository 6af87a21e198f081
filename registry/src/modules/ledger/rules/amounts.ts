import assert from 'node:assert'

/** Maximum amount of one transfer, in minor units. */
export const maxAmountMinor = 10n ** 15n
/** Shares are in basis points: hundredths of a percent. */
const wholeBasisPoints = 10_000

export function isAmount(amountMinor: bigint): boolean {
  return amountMinor >= 1n && amountMinor <= maxAmountMinor
}

/** Three letters, as in ISO 4217. The installation's settings define which currency is used. */
export function isCurrency(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency)
}

function areBasisPoints(basisPoints: number): boolean {
  return Number.isInteger(basisPoints) && basisPoints >= 0 && basisPoints <= wholeBasisPoints
}

/** The share of an amount in basis points, rounded down. */
function partOf(amountMinor: bigint, basisPoints: number): bigint {
  return (amountMinor * BigInt(basisPoints)) / BigInt(wholeBasisPoints)
}

/** Each party's share of a price, in minor units; the shares always sum to the price. */
export type SaleParts = { feeMinor: bigint; royaltyMinor: bigint; sellerMinor: bigint }

/**
 * Fee and royalty are shares of the price, each rounded down; the seller gets the rest. `basisPoints` are hundredths of
 * a percent; together they are at most the whole.
 */
export function splitSale({
  priceMinor,
  feeBasisPoints,
  royalty,
}: {
  priceMinor: bigint
  feeBasisPoints: number
  royalty?: { basisPoints: number }
}): SaleParts {
  const royaltyBasisPoints = royalty?.basisPoints ?? 0
  assert(isAmount(priceMinor), `a price of ${priceMinor} minor units is none`)
  assert(
    areBasisPoints(feeBasisPoints) && areBasisPoints(royaltyBasisPoints),
    'fee and royalty must be whole basis points, 0 to 10,000',
  )
  assert(areBasisPoints(feeBasisPoints + royaltyBasisPoints), 'fee and royalty are more than the price')
  const feeMinor = partOf(priceMinor, feeBasisPoints)
  const royaltyMinor = partOf(priceMinor, royaltyBasisPoints)
  return { feeMinor, royaltyMinor, sellerMinor: priceMinor - feeMinor - royaltyMinor }
}

/**
 * The part that each party returns for a refund of `amountMinor` on an order with `refundedMinor` already refunded. The
 * parts sum to the amount and none is negative. Refunds that sum to the price return each part exactly, however they
 * were split.
 *
 * Calculated as the difference of cumulative sums before and after. Rounding each part separately would not work: fee
 * and royalty could both grow by one for a refund of one, making the seller's part negative. So the fee is rounded
 * down, and the royalty is rounded down within the remainder; each of the three sums is monotonic in the refunded
 * amount.
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

/** The cumulative part of each party once `refundedMinor` of the price is refunded. */
function refundedParts({ feeMinor, royaltyMinor, sellerMinor }: SaleParts, refundedMinor: bigint): SaleParts {
  const beyondFee = royaltyMinor + sellerMinor
  const fee = (refundedMinor * feeMinor) / (feeMinor + beyondFee)
  const rest = refundedMinor - fee
  const royalty = beyondFee === 0n ? 0n : (rest * royaltyMinor) / beyondFee
  return { feeMinor: fee, royaltyMinor: royalty, sellerMinor: rest - royalty }
}

const callsAPrice = 1_000n

/**
 * The cost of calls at a price per 1,000 calls, in whole minor units. The remainder, in thousandths of a minor unit (0
 * to 999), is carried to the next batch, so that the total does not depend on how calls are split into batches.
 */
export function meteredAmount({
  calls,
  priceMinor,
  remainder,
}: {
  calls: bigint
  /** Price of 1,000 calls. */
  priceMinor: bigint
  remainder: bigint
}): { amountMinor: bigint; remainder: bigint } {
  assert(calls >= 0n && priceMinor >= 0n, 'calls and their price are not negative')
  assert(remainder >= 0n && remainder < callsAPrice, 'a remainder is 0 to 999 thousandths')
  const thousandths = remainder + calls * priceMinor
  return { amountMinor: thousandths / callsAPrice, remainder: thousandths % callsAPrice }
}
