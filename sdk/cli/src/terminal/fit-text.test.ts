import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fitText, padText, wrapText } from './fit-text.ts'

const printable = fc
  .string({ unit: 'grapheme', maxLength: 60 })
  .filter((text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
const width = fc.integer({ min: 1, max: 50 })

describe('fitText', () => {
  it('keeps what fits and cuts the rest with an ellipsis', () => {
    expect(fitText('cart-pole', 9)).toBe('cart-pole')
    expect(fitText('cart-pole', 8)).toBe('cart-po…')
    expect(fitText('迷路迷路', 5)).toBe('迷路…')
    expect(fitText('abc', 2, '...')).toBe('..')
  })

  it('is never wider than asked', () => {
    fc.assert(fc.property(printable, width, (text, columns) => stringWidth(fitText(text, columns)) <= columns))
  })
})

describe('padText', () => {
  it('counts columns, not characters', () => {
    expect(padText('迷路', 6)).toBe('迷路  ')
    expect(padText('7', 3, 'right')).toBe('  7')
    expect(padText('\u001b[1mab\u001b[22m', 4)).toBe('\u001b[1mab\u001b[22m  ')
  })
})

describe('wrapText', () => {
  it('breaks at spaces, and inside words that are too long', () => {
    expect(wrapText('the reward is not finite', 10)).toEqual(['the reward', 'is not', 'finite'])
    expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    expect(wrapText('', 4)).toEqual([''])
  })

  it('loses no word and no line is too wide', () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '迷'), minLength: 1, maxLength: 30 }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 40 }), (list, columns) => {
        const lines = wrapText(list.join(' '), columns)
        expect(lines.join('').replaceAll(' ', '')).toBe(list.join(''))
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
      }),
    )
  })
})
