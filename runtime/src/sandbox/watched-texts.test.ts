import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readWatchedTexts } from './watched-texts.ts'

test('gives back what was encoded, with spaces for control characters', () => {
  const encode = (texts: string[]) => `${texts.length};${texts.map((text) => `${text.length}:${text}`).join('')}`
  const texts = fc.array(fc.string({ unit: 'grapheme-composite', maxLength: 80 }), { maxLength: 4 })
  fc.assert(
    fc.property(texts, texts, (now, final) => {
      const read = readWatchedTexts(encode(now) + encode(final))
      const shown = (text: string) => text.replace(/[^\P{Cc}\t\n]/gu, ' ')
      expect(read).toEqual({ now: now.map(shown), final: final.map(shown) })
    }),
  )
})

test('reads whatever a stranger sends as few short texts', () => {
  const pieces = fc.oneof(
    fc.constantFrom('4;', '2;', '9;', '500:', '501:', '-1:', '1e9:', 'NaN;', '0x10:', ':', ';', '\0', '\ud800'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      for (const list of Object.values(readWatchedTexts(parts.join('')))) {
        expect(list.length).toBeLessThanOrEqual(4)
        for (const text of list) {
          expect(text.length).toBeLessThanOrEqual(500)
          expect(text.isWellFormed()).toBe(true)
          expect(text).not.toMatch(/[^\P{Cc}\t\n]/u)
        }
      }
    }),
  )
})
