import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNearlySpent, isSpent, type Metered, meter, spentMinor } from './metering.ts'

const hour = 3_600_000
const run = (changes: Partial<Metered> = {}): Metered => ({
  price_minor_per_hour: hour,
  attempt_price_milliseconds: 0,
  attempt_metered_ms: 0,
  price_milliseconds: 0,
  budget_minor: null,
  ...changes,
})

describe('the meter', () => {
  it('counts price times time, on top of what the attempt began with', () => {
    const reading = meter(run({ attempt_price_milliseconds: 5 * hour, price_milliseconds: 5 * hour }), {
      meteredMs: 10,
      leasedMs: 100_000,
    })
    expect(reading).toEqual({ attempt_metered_ms: 10, price_milliseconds: 15 * hour })
    expect(spentMinor({ ...run(), ...reading })).toBe(15)
  })

  it('rounds up, once', () => {
    expect(spentMinor({ price_milliseconds: 1, budget_minor: null })).toBe(1)
    expect(spentMinor({ price_milliseconds: hour, budget_minor: null })).toBe(1)
    expect(spentMinor({ price_milliseconds: hour + 1, budget_minor: null })).toBe(2)
    expect(spentMinor({ price_milliseconds: 0, budget_minor: null })).toBe(0)
  })

  it('a budget is used up when all of it is, and never exceeded', () => {
    const at = (price: number) => ({ price_milliseconds: price, budget_minor: 4 })
    expect([isSpent(at(4 * hour - 1)), isSpent(at(4 * hour))]).toEqual([false, true])
    expect([isNearlySpent(at(3 * hour - 1)), isNearlySpent(at(3 * hour))]).toEqual([false, true])
    expect(spentMinor(at(400 * hour))).toBe(4)
    expect(isSpent({ price_milliseconds: Number.MAX_SAFE_INTEGER, budget_minor: null })).toBe(false)
  })

  it('never goes back within an attempt, nor beyond what the lease allows, nor past what a number holds', () => {
    const told = fc.array(fc.record({ meteredMs: fc.nat(10 ** 12), elapsed: fc.nat(100_000) }), { maxLength: 30 })
    const prices = fc.nat(10 ** 9)
    fc.assert(
      fc.property(told, prices, fc.nat(10 ** 12), (given, price, began) => {
        let state = run({
          price_minor_per_hour: price,
          attempt_price_milliseconds: began,
          price_milliseconds: began,
        })
        let leasedMs = 0
        for (const { meteredMs, elapsed } of given) {
          leasedMs += elapsed
          const reading = meter(state, { meteredMs, leasedMs })
          expect(reading.attempt_metered_ms).toBeGreaterThanOrEqual(state.attempt_metered_ms)
          expect(reading.attempt_metered_ms).toBeLessThanOrEqual(leasedMs + 1_000)
          expect(reading.price_milliseconds).toBeGreaterThanOrEqual(state.price_milliseconds)
          expect(Number.isSafeInteger(reading.price_milliseconds)).toBe(true)
          state = { ...state, ...reading }
        }
      }),
    )
  })
})
