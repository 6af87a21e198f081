import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxAmountMinor, meteredAmount, type SaleParts, splitRefund, splitSale } from './amounts.ts'

describe('split sale', () => {
  describe('parts of a sale', () => {
    it('round fee and royalty down, and the seller gets the rest', () => {
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
    ])('are undefined for %o', (sale) => {
      expect(() => splitSale(sale)).toThrow()
    })
  })
})

describe('split refund', () => {
  const sum = ({ feeMinor, royaltyMinor, sellerMinor }: SaleParts) => feeMinor + royaltyMinor + sellerMinor

  const sales = fc.oneof(
    // Small prices, where rounding is all there is; every split of them, also those that no fee makes.
    fc.record({ feeMinor: fc.bigInt(0n, 20n), royaltyMinor: fc.bigInt(0n, 20n), sellerMinor: fc.bigInt(0n, 20n) }),
    fc
      .tuple(fc.bigInt(1n, maxAmountMinor), fc.nat(5_000), fc.nat(5_000))
      .map(([priceMinor, feeBasisPoints, basisPoints]) =>
        splitSale({ priceMinor, feeBasisPoints, royalty: { basisPoints } }),
      ),
  )
  const refundedSales = sales
    .filter((sale) => sum(sale) > 0n)
    .chain((sale) => fc.tuple(fc.constant(sale), fc.array(fc.bigInt(1n, sum(sale)), { maxLength: 20 })))

  describe('the parts of a refund', () => {
    it('return each part exactly over refunds that sum to the price', () => {
      fc.assert(
        fc.property(refundedSales, ([sale, given]) => {
          const amounts = [...given]
          const price = sum(sale)
          const back = { feeMinor: 0n, royaltyMinor: 0n, sellerMinor: 0n }
          let refundedMinor = 0n
          while (refundedMinor < price) {
            const left = price - refundedMinor
            const amountMinor = amounts.pop() ?? left
            if (amountMinor > left) continue
            const parts = splitRefund(sale, { refundedMinor, amountMinor })
            expect(sum(parts)).toBe(amountMinor)
            for (const key of ['feeMinor', 'royaltyMinor', 'sellerMinor'] as const) {
              expect(parts[key]).toBeGreaterThanOrEqual(0n)
              back[key] += parts[key]
              expect(back[key]).toBeLessThanOrEqual(sale[key])
            }
            refundedMinor += amountMinor
          }
          expect(back).toEqual(sale)
        }),
        { numRuns: 2_000 },
      )
    })

    it('depend only on the refunded total', () => {
      const sale = { feeMinor: 3n, royaltyMinor: 3n, sellerMinor: 4n }
      const single = [0n, 1n, 2n].map((refundedMinor) => splitRefund(sale, { refundedMinor, amountMinor: 1n }))
      const whole = splitRefund(sale, { refundedMinor: 0n, amountMinor: 3n })
      for (const key of ['feeMinor', 'royaltyMinor', 'sellerMinor'] as const)
        expect(single.reduce((total, parts) => total + parts[key], 0n)).toBe(whole[key])
    })

    it.each([
      { refundedMinor: 0n, amountMinor: 0n },
      { refundedMinor: 0n, amountMinor: -1n },
      { refundedMinor: 0n, amountMinor: 11n },
      { refundedMinor: 6n, amountMinor: 5n },
      { refundedMinor: -1n, amountMinor: 5n },
    ])('are undefined for %o of a price of 10', (refund) => {
      expect(() => splitRefund({ feeMinor: 1n, royaltyMinor: 0n, sellerMinor: 9n }, refund)).toThrow()
    })
  })
})

describe('metered amount', () => {
  describe('a metered amount', () => {
    it('carries fractions of a minor unit', () => {
      expect(meteredAmount({ calls: 1n, priceMinor: 999n, remainder: 0n })).toEqual({
        amountMinor: 0n,
        remainder: 999n,
      })
      expect(meteredAmount({ calls: 1n, priceMinor: 999n, remainder: 999n })).toEqual({
        amountMinor: 1n,
        remainder: 998n,
      })
      expect(meteredAmount({ calls: 0n, priceMinor: 5n, remainder: 7n })).toEqual({ amountMinor: 0n, remainder: 7n })
    })

    it('does not depend on how calls are split into batches', () => {
      const batches = fc.array(fc.bigInt(0n, 1_000_000n), { maxLength: 40 })
      fc.assert(
        fc.property(batches, fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 999n), (given, priceMinor, began) => {
          let remainder = began
          let total = 0n
          for (const calls of given) {
            const metered = meteredAmount({ calls, priceMinor, remainder })
            total += metered.amountMinor
            remainder = metered.remainder
          }
          const calls = given.reduce((sum, count) => sum + count, 0n)
          expect({ amountMinor: total, remainder }).toEqual(meteredAmount({ calls, priceMinor, remainder: began }))
          expect(total * 1_000n + remainder).toBe(calls * priceMinor + began)
        }),
      )
    })

    it.each([
      { calls: -1n, priceMinor: 1n, remainder: 0n },
      { calls: 1n, priceMinor: -1n, remainder: 0n },
      { calls: 1n, priceMinor: 1n, remainder: -1n },
      { calls: 1n, priceMinor: 1n, remainder: 1_000n },
    ])('is undefined for %o', (given) => {
      expect(() => meteredAmount(given)).toThrow()
    })
  })
})
