import assert from 'node:assert'
import { areBasisPoints, isAmount, partOf } from './money.ts'

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
