import assert from 'node:assert'

/** Most that one transfer moves, in minor units. */
export const maxAmountMinor = 10n ** 15n
/** Parts are told in basis points: hundredths of a per cent. */
const wholeBasisPoints = 10_000

export function isAmount(amountMinor: bigint): boolean {
  return amountMinor >= 1n && amountMinor <= maxAmountMinor
}

/** Three letters, as ISO 4217 has them. Which currency there is, the installation's settings say. */
export function isCurrency(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency)
}

function areBasisPoints(basisPoints: number): boolean {
  return Number.isInteger(basisPoints) && basisPoints >= 0 && basisPoints <= wholeBasisPoints
}

/** That many basis points of an amount, rounded down. */
function partOf(amountMinor: bigint, basisPoints: number): bigint {
  return (amountMinor * BigInt(basisPoints)) / BigInt(wholeBasisPoints)
}

/** Who gets what of a price, in minor units: the parts always sum to it. */
export type SaleParts = { feeMinor: bigint; royaltyMinor: bigint; sellerMinor: bigint }

/**
 * Fee and royalty are parts of the price, each rounded down; what is left is the seller's. `basisPoints` are hundredths of
 * a per cent; together they are at most the whole.
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
    'fee and royalty are whole basis points, 0 to 10,000',
  )
  assert(areBasisPoints(feeBasisPoints + royaltyBasisPoints), 'fee and royalty are more than the price')
  const feeMinor = partOf(priceMinor, feeBasisPoints)
  const royaltyMinor = partOf(priceMinor, royaltyBasisPoints)
  return { feeMinor, royaltyMinor, sellerMinor: priceMinor - feeMinor - royaltyMinor }
}

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

const callsAPrice = 1_000n

/**
 * What calls come to at a price of 1,000 calls, in whole minor units. What is left, in thousandths of a minor unit (0 to
 * 999), is carried to the next batch, so that the sum over batches is the same however the calls are cut into them.
 */
export function meteredAmount({
  calls,
  priceMinor,
  remainder,
}: {
  calls: bigint
  /** Of 1,000 calls. */
  priceMinor: bigint
  remainder: bigint
}): { amountMinor: bigint; remainder: bigint } {
  assert(calls >= 0n && priceMinor >= 0n, 'calls and their price are not negative')
  assert(remainder >= 0n && remainder < callsAPrice, 'a remainder is 0 to 999 thousandths')
  const thousandths = remainder + calls * priceMinor
  return { amountMinor: thousandths / callsAPrice, remainder: thousandths % callsAPrice }
}
