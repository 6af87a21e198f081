import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { meteredAmount } from './metered-amount.ts'

describe('a metered amount', () => {
  it('carries what is less than a minor unit', () => {
    expect(meteredAmount({ calls: 1n, priceMinor: 999n, remainder: 0n })).toEqual({ amountMinor: 0n, remainder: 999n })
    expect(meteredAmount({ calls: 1n, priceMinor: 999n, remainder: 999n })).toEqual({
      amountMinor: 1n,
      remainder: 998n,
    })
    expect(meteredAmount({ calls: 0n, priceMinor: 5n, remainder: 7n })).toEqual({ amountMinor: 0n, remainder: 7n })
  })

  it('is the same however the calls are cut into batches', () => {
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
  ])('there is none of %o', (given) => {
    expect(() => meteredAmount(given)).toThrow()
  })
})
