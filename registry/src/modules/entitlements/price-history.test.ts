import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isRaise,
  type PriceEntry,
  type PriceTerms,
  priceAt,
  priceTakesEffectAt,
  upcomingPrices,
} from './prices.store.ts'

const free: PriceTerms = { kind: 'free', amountMinor: 0n }
const once = (amountMinor: bigint): PriceTerms => ({ kind: 'one_time', amountMinor })
const perRun = (amountMinor: bigint): PriceTerms => ({ kind: 'per_run', amountMinor })
const at = (ms: number) => new Date(ms)
const entry = (terms: PriceTerms, effective: number, more: Partial<PriceEntry> = {}): PriceEntry => ({
  ...terms,
  effectiveAt: at(effective),
  createdAt: at(0),
  ...more,
})

describe('a new price', () => {
  it.each([
    [free, once(1n), true],
    [free, perRun(1n), true],
    [once(5n), once(6n), true],
    [once(5n), perRun(1n), true],
    [perRun(5n), once(6n), true],
    [perRun(5n), perRun(6n), true],
    [free, free, false],
    [once(5n), free, false],
    [once(5n), once(5n), false],
    [once(5n), once(4n), false],
    [perRun(5n), once(5n), false],
    [perRun(5n), perRun(4n), false],
  ])('after %o, %o is a raise: %s', (current, next, raise) => {
    expect(isRaise(current, next)).toBe(raise)
    const effective = priceTakesEffectAt({ current, next }, { at: at(100), noticeMs: 7 })
    expect(effective).toEqual(at(raise ? 107 : 100))
  })
})

describe('a price history', () => {
  it('is free before the first price, then the latest effective one', () => {
    const history = [entry(once(3n), 30), entry(once(1n), 10), entry(once(2n), 20)]
    expect([9, 10, 19, 20, 30, 99].map((ms) => priceAt(history, at(ms)).amountMinor)).toEqual([0n, 1n, 1n, 2n, 3n, 3n])
    expect(upcomingPrices(history, at(10)).map(({ amountMinor }) => amountMinor)).toEqual([2n, 3n])
    expect(upcomingPrices(history, at(30))).toEqual([])
    expect(priceAt([], at(0))).toEqual(free)
  })

  it('of two effective at the same time, the one set last applies', () => {
    const history = [entry(once(2n), 10, { createdAt: at(5) }), entry(once(1n), 10, { createdAt: at(4) })]
    expect(priceAt(history, at(10)).amountMinor).toBe(2n)
  })

  it('a withdrawn price never applies', () => {
    const history = [entry(once(1n), 10), entry(once(9n), 20, { withdrawnAt: at(15) })]
    expect(priceAt(history, at(50)).amountMinor).toBe(1n)
    expect(upcomingPrices(history, at(12))).toEqual([])
  })

  it('never charges more than the announced price during the notice period', () => {
    const terms = fc.oneof(fc.constant(free), fc.bigInt(1n, 9n).map(once), fc.bigInt(1n, 9n).map(perRun))
    const noticeMs = 100
    fc.assert(
      fc.property(fc.array(fc.tuple(terms, fc.nat(80)), { maxLength: 15 }), (given) => {
        const history: PriceEntry[] = []
        let now = 0
        for (const [next, waited] of given) {
          now += waited
          const current = priceAt(history, at(now))
          const effectiveAt = priceTakesEffectAt({ current, next }, { at: at(now), noticeMs })
          history.push({ ...next, effectiveAt, createdAt: at(now) })
        }
        for (let ms = 0; ms <= now; ms += 10) {
          const before = history.filter(({ createdAt }) => createdAt <= at(ms))
          for (const later of history.filter(({ createdAt }) => createdAt > at(ms))) {
            const holds = priceAt(before, later.createdAt)
            if (isRaise(holds, later)) expect(later.effectiveAt.getTime()).toBeGreaterThanOrEqual(ms + noticeMs)
          }
        }
      }),
    )
  })
})
