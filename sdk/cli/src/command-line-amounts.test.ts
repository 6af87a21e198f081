import { expect, it } from 'vitest'
import { budgetWord, readAmount } from './command-line-amounts.ts'

it('an amount is read in minor units of its currency', () => {
  expect(readAmount('2.50', 'EUR', budgetWord)).toBe(250)
  expect(readAmount('250', 'JPY', budgetWord)).toBe(250)
})

it.each([
  ['-1', 'EUR', '--budget 2.50'],
  ['2,50', 'EUR', '--budget 2.50'],
  ['2.5', 'JPY', '--budget 250'],
  ['0', 'KWD', '--budget 2.500'],
])('%j %s is refused with how to write it', (text, currency, example) => {
  expect(() => readAmount(text, currency, budgetWord)).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      hint: `Give the most that the run may cost, in ${currency}: ${example}.`,
      data: { field: 'budget', value: text, currency },
    }),
  )
})
