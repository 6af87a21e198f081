import { readWatchedTexts } from '@agentgym/playing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allFinite, firstBadFlaggedRow, firstBadRow, firstIllegalMask } from './guest-output.ts'

describe('check rows', () => {
  describe('finiteness', () => {
    test('is what Number.isFinite says of every element', () => {
      fc.assert(
        fc.property(fc.float32Array({ maxLength: 40 }), (values) => {
          expect(allFinite(values)).toBe(values.every((value) => Number.isFinite(value)))
        }),
      )
    })

    test('the first bad row is found, whatever its width', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 1, max: 9 }), fc.nat(), (width, rows, at) => {
          const values = new Float32Array(width * rows)
          expect(firstBadRow(values, width)).toBe(-1)
          values[at % values.length] = [Number.NaN, Infinity, -Infinity][at % 3]
          expect(firstBadRow(values, width)).toBe(Math.floor((at % values.length) / width))
        }),
      )
    })
  })

  test('of final observations only rows of ended episodes count', () => {
    const values = Float32Array.from([0, Number.NaN, 1, 2, Infinity, 0])
    expect(firstBadFlaggedRow(values, 2, Uint8Array.from([0, 1, 0]))).toBe(-1)
    expect(firstBadFlaggedRow(values, 2, Uint8Array.from([0, 2, 2]))).toBe(2)
  })

  describe('masks', () => {
    const idle = 4

    test('every component needs a legal choice; idle rows do not', () => {
      const counts = [2, 3]
      const legal = [1, 0, 0, 1, 1]
      const flags = new Uint8Array(3)
      const masks = Uint8Array.from([...legal, ...legal, ...legal])
      expect(firstIllegalMask(masks, counts, flags, idle)).toBe(-1)
      masks.fill(0, 5 + 2, 10)
      expect(firstIllegalMask(masks, counts, flags, idle)).toBe(1)
      flags[1] = idle
      expect(firstIllegalMask(masks, counts, flags, idle)).toBe(-1)
    })

    test('anything but 0 and 1 is refused', () => {
      expect(firstIllegalMask(Uint8Array.from([1, 2]), [2], new Uint8Array(1), idle)).toBe(0)
    })
  })
})

describe('watched texts', () => {
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
})
