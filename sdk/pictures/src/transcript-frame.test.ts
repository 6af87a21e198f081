import fc from 'fast-check'
import { expect, it } from 'vitest'
import { wrapText } from './transcript-frame.ts'

it('wraps between words, breaks long words, and ends with an ellipsis', () => {
  expect(wrapText('one two three', 7, 9)).toEqual(['one two', 'three'])
  expect(wrapText('a\nb', 7, 9)).toEqual(['a', 'b'])
  expect(wrapText('incomprehensible', 6, 9)).toEqual(['incomp', 'rehens', 'ible'])
  expect(wrapText('one two three four', 7, 2)).toEqual(['one two', 'three…'])
  // East Asian letters are as wide as two.
  expect(wrapText('予約を変更', 6, 9)).toEqual(['予約を', '変更'])
})

it('loses nothing if it fits, and stays within its size otherwise', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (text, cells, lines) => {
        const all = wrapText(text, cells, 1_000)
        expect(all.join('').replaceAll(/\s/gu, '')).toBe(text.replaceAll(/\s/gu, ''))
        const cut = wrapText(text, cells, lines)
        expect(cut.length).toBeLessThanOrEqual(lines)
        for (const line of cut) expect([...line].length).toBeLessThanOrEqual(cells)
      },
    ),
  )
})
