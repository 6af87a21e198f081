import { AgentGymError } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import {
  budgetOption,
  collectSetting,
  countRange,
  readAmount,
  seedList,
  seedRange,
  wholeNumber,
} from './option-values.ts'

describe('command line numbers', () => {
  const steps = wholeNumber('steps', countRange)
  const seed = wholeNumber('seed', seedRange)

  function failure(work: () => unknown): unknown {
    try {
      return work()
    } catch (error) {
      return error instanceof AgentGymError ? error.toReport() : error
    }
  }

  describe('whole numbers of the command line', () => {
    it.each([
      ['100000', 100_000],
      ['1e5', 100_000],
      ['2.5e3', 2500],
      ['100_000', 100_000],
      [' 7 ', 7],
    ])('%s is a number of steps', (text, value) => {
      expect(steps(text)).toBe(value)
    })

    it.each([
      '',
      'abc',
      '1.5',
      '0',
      '-1',
      '1e-5',
      '0x10',
      '1__0',
      '_1',
      'NaN',
      'Infinity',
      '1e400',
      '9007199254740993',
      '1,000',
    ])('%j is refused, with the field named', (text) => {
      expect(failure(() => steps(text))).toMatchObject({ code: 'config_invalid', data: { field: 'steps' } })
    })

    it('seeds are unsigned 32-bit numbers', () => {
      expect(seed('0')).toBe(0)
      expect(seed('4294967295')).toBe(4_294_967_295)
      for (const text of ['-1', '4294967296'])
        expect(failure(() => seed(text))).toMatchObject({ code: 'config_invalid' })
    })
  })

  describe('--set', () => {
    it('collects pairs; values may contain equals signs, and the last of a name wins', () => {
      const first = collectSetting('gamma=0.9')
      expect({ ...collectSetting('gamma=0.99', collectSetting('note=a=b', first)) }).toEqual({
        gamma: '0.99',
        note: 'a=b',
      })
    })

    it('supports names of inherited properties', () => {
      expect(Object.keys(collectSetting('__proto__=1'))).toEqual(['__proto__'])
    })

    it.each(['gamma', '=1', ' =1', ''])('%j is refused', (text) => {
      expect(failure(() => collectSetting(text))).toMatchObject({ code: 'config_invalid' })
    })
  })
})

describe('command line amounts', () => {
  it('an amount is read in minor units of its currency', () => {
    expect(readAmount('2.50', 'EUR', budgetOption)).toBe(250)
    expect(readAmount('250', 'JPY', budgetOption)).toBe(250)
  })

  it.each([
    ['-1', 'EUR', '--budget 2.50'],
    ['2,50', 'EUR', '--budget 2.50'],
    ['2.5', 'JPY', '--budget 250'],
    ['0', 'KWD', '--budget 2.500'],
  ])('%j %s is refused with the correct form', (text, currency, example) => {
    expect(() => readAmount(text, currency, budgetOption)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        hint: `Give the spending limit of the run, in ${currency}: ${example}.`,
        data: { field: 'budget', value: text, currency },
      }),
    )
  })
})

describe('seedList', () => {
  it('reads one seed, several, and a range', () => {
    expect(seedList('7')).toEqual([7])
    expect(seedList('1,7,3')).toEqual([1, 7, 3])
    expect(seedList('3..6')).toEqual([3, 4, 5, 6])
    expect(seedList('5..5')).toEqual([5])
  })

  it.each(['', 'x', '1..', '..5', '5..1', '1..2..3', '1,1', '1,', '0..1000', '-1', '1.5', '0..4294967296'])(
    'refuses %j',
    (text) => {
      expect(() => seedList(text)).toThrow(AgentGymError)
    },
  )
})
