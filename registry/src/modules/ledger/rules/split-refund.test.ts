import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxAmountMinor } from './money.ts'
import { splitRefund } from './split-refund.ts'
import { type SaleParts, splitSale } from './split-sale.ts'

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
  it('refunds that sum to the price bring each part back exactly, however they are cut', () => {
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

  it('what is back after some amount does not depend on how it was cut', () => {
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
  ])('there are none of %o of a price of 10', (refund) => {
    expect(() => splitRefund({ feeMinor: 1n, royaltyMinor: 0n, sellerMinor: 9n }, refund)).toThrow()
  })
})
