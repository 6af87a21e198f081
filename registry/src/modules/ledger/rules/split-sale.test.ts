import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxAmountMinor } from './money.ts'
import { splitSale } from './split-sale.ts'

describe('the parts of a sale', () => {
  it('fee and royalty are rounded down, the rest is the seller’s', () => {
    expect(splitSale({ priceMinor: 999n, feeBasisPoints: 1_000, royalty: { basisPoints: 500 } })).toEqual({
      feeMinor: 99n,
      royaltyMinor: 49n,
      sellerMinor: 851n,
    })
    expect(splitSale({ priceMinor: 1n, feeBasisPoints: 9_999 })).toEqual({
      feeMinor: 0n,
      royaltyMinor: 0n,
      sellerMinor: 1n,
    })
    expect(splitSale({ priceMinor: maxAmountMinor, feeBasisPoints: 10_000 }).sellerMinor).toBe(0n)
  })

  it('always sum to the price, and none is negative or more than its share', () => {
    const shares = fc.nat(10_000).chain((fee) => fc.tuple(fc.constant(fee), fc.nat(10_000 - fee)))
    fc.assert(
      fc.property(fc.bigInt(1n, maxAmountMinor), shares, (priceMinor, [feeBasisPoints, basisPoints]) => {
        const parts = splitSale({ priceMinor, feeBasisPoints, royalty: { basisPoints } })
        expect(parts.feeMinor + parts.royaltyMinor + parts.sellerMinor).toBe(priceMinor)
        for (const part of Object.values(parts)) expect(part).toBeGreaterThanOrEqual(0n)
        expect(parts.feeMinor * 10_000n).toBeLessThanOrEqual(priceMinor * BigInt(feeBasisPoints))
        expect(parts.royaltyMinor * 10_000n).toBeLessThanOrEqual(priceMinor * BigInt(basisPoints))
      }),
    )
  })

  it.each([
    { priceMinor: 0n, feeBasisPoints: 0 },
    { priceMinor: -1n, feeBasisPoints: 0 },
    { priceMinor: maxAmountMinor + 1n, feeBasisPoints: 0 },
    { priceMinor: 1n, feeBasisPoints: -1 },
    { priceMinor: 1n, feeBasisPoints: 0.5 },
    { priceMinor: 1n, feeBasisPoints: 10_001 },
    { priceMinor: 1n, feeBasisPoints: 6_000, royalty: { basisPoints: 4_001 } },
  ])('there are none of %o', (sale) => {
    expect(() => splitSale(sale)).toThrow()
  })
})
