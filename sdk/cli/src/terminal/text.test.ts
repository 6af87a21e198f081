import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { fitText, padText, safeText, shellQuote, wrapText } from './text.ts'

describe('fit text', () => {
  const printable = fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .filter((text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text))
  const width = fc.integer({ min: 1, max: 50 })

  describe('fitText', () => {
    it('truncates with an ellipsis', () => {
      expect(fitText('cart-pole', 9)).toBe('cart-pole')
      expect(fitText('cart-pole', 8)).toBe('cart-po…')
      expect(fitText('迷路迷路', 5)).toBe('迷路…')
      expect(fitText('abc', 2, '...')).toBe('..')
    })

    it('never exceeds the width', () => {
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
})

describe('safe text', () => {
  describe('safeText', () => {
    it('shows control characters instead of sending them', () => {
      expect(safeText('\u001b[2Jgone\u0007')).toBe('\\x1b[2Jgone\\x07')
      expect(safeText('one\r\ntwo\tthree')).toBe('one\\r\\ntwo\\tthree')
      expect(safeText('\u009b31mred')).toBe('\\x9b31mred')
      expect(safeText('abc\u202etxt.exe')).toBe('abc\\u{202e}txt.exe')
      expect(safeText('lone \ud800 surrogate')).toBe('lone \ufffd surrogate')
    })

    it('keeps letters of every script and emoji', () => {
      expect(safeText('Labyrinth für Grüße 迷路 🤖')).toBe('Labyrinth für Grüße 迷路 🤖')
    })

    it('truncates long text by characters', () => {
      expect(safeText('🤖'.repeat(50), 10)).toBe(`${'🤖'.repeat(9)}…`)
      expect(safeText('x'.repeat(2_000_000), 100)).toHaveLength(100)
    })

    it('never passes control or reordering characters through', () => {
      const text = fc.string({
        unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
        maxLength: 200,
      })
      fc.assert(
        fc.property(text, (raw) => {
          expect(safeText(raw, 80)).not.toMatch(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
        }),
      )
    })
  })

  describe('shellQuote', () => {
    it('quotes only if a shell would change the text', () => {
      expect(shellQuote('agents/cart-pole')).toBe('agents/cart-pole')
      expect(shellQuote('my agents')).toBe("'my agents'")
      expect(shellQuote("it's $HOME")).toBe("'it'\\''s $HOME'")
      expect(shellQuote('')).toBe("''")
    })
  })
})
