import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decimalAmount, formatAmount, parseAmount } from './amounts.ts'

describe('an amount of money', () => {
  it.each([
    ['2.50', 'EUR', 250],
    ['2.5', 'EUR', 250],
    ['2', 'EUR', 200],
    ['0.01', 'EUR', 1],
    ['1.10', 'EUR', 110],
    ['4.35', 'USD', 435],
    ['64.10', 'USD', 6410],
    ['2.500', 'EUR', 250],
    ['250', 'JPY', 250],
    ['1.234', 'KWD', 1234],
    ['10000000000000', 'EUR', 1_000_000_000_000_000],
  ])('%s %s is %i minor units', (text, currency, minor) => expect(parseAmount(text, currency)).toEqual({ minor }))

  it.each([
    ['', 'EUR'],
    ['-1', 'EUR'],
    ['0', 'EUR'],
    ['0.00', 'EUR'],
    ['1e3', 'EUR'],
    ['2,50', 'EUR'],
    ['0x10', 'EUR'],
    ['2.505', 'EUR'],
    ['2.5', 'JPY'],
    ['Infinity', 'EUR'],
    ['10000000000000.01', 'EUR'],
    ['999999999999999999', 'EUR'],
  ])('%j %s is none', (text, currency) => {
    expect(parseAmount(text, currency)).toEqual({ problem: expect.any(String) })
  })

  it('round-trips any amount', () => {
    const anyAmount = fc.integer({ min: 1, max: 1_000_000_000_000_000 })
    fc.assert(
      fc.property(anyAmount, fc.constantFrom('EUR', 'JPY', 'KWD'), (minor, code) => {
        expect(parseAmount(decimalAmount(minor, code), code)).toEqual({ minor })
      }),
    )
  })
})

it.each([
  [0, 'EUR', '€0.00'],
  [5, 'EUR', '€0.05'],
  [-5, 'EUR', '-€0.05'],
  [123_456, 'USD', '$1,234.56'],
  [1250, 'JPY', '¥1,250'],
  [1, 'KWD', 'KWD\u00a00.001'],
  [9_007_199_254_740_993n, 'EUR', '€90,071,992,547,409.93'],
  [100, '???', '1.00 ???'],
])('%s of %s reads %s', (minor, currency, text) => expect(formatAmount(minor, currency)).toBe(text))
