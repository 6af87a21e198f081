import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearestName } from './nearest-name.ts'

describe('nearestName', () => {
  const known = ['learning_rate', 'gamma', 'epochs', 'tools', 'cart-pole', 'publish']

  it.each([
    ['learning_rat', 'learning_rate'],
    ['learning-rate', 'learning_rate'],
    ['LEARNING_RATE', 'learning_rate'],
    ['gama', 'gamma'],
    ['amgma', 'gamma'],
    ['tool', 'tools'],
    ['cart_pol', 'cart-pole'],
    ['publsih', 'publish'],
  ])('%s means %s', (typed, name) => {
    expect(nearestName(typed, known)).toBe(name)
  })

  it.each(['', 'x', 'latest', 'maze', 'batch_size'])('%j means none', (typed) => {
    expect(nearestName(typed, known)).toBeUndefined()
  })

  it('returns none without candidates', () => {
    expect(nearestName('x', [])).toBeUndefined()
  })

  it('finds a name of five or more letters from which one letter is missing', () => {
    const name = fc.stringMatching(/^[a-z]{5,20}$/)
    fc.assert(
      fc.property(name, fc.nat(19), (word, at) => {
        const typed = word.slice(0, at % word.length) + word.slice((at % word.length) + 1)
        expect(nearestName(typed, ['0123456789', word])).toBe(word)
      }),
    )
  })
})
