import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeOutput, OutputTail } from './escape-output.ts'

describe('escapeOutput', () => {
  test('shows what a terminal would obey', () => {
    expect(escapeOutput('\u001b[2Ja\nb\tc\u202ed\u0000', 100)).toBe('\\u{1b}[2Ja\\nb\\tc\\u{202e}d\\u{0}')
  })

  test('never lets a control, format or half character through, and keeps to its limit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(200), (text, limit) => {
        const shown = escapeOutput(text, limit)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
        expect(shown.isWellFormed()).toBe(true)
        expect(shown.length).toBeLessThanOrEqual(limit * 10 + 1)
      }),
    )
  })
})

describe('OutputTail', () => {
  test('keeps the last bytes, however they come', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 50 })), fc.integer({ min: 1, max: 60 }), (chunks, limit) => {
        const tail = new OutputTail(limit)
        for (const chunk of chunks) tail.push(Buffer.from(chunk))
        const all = Buffer.from(chunks.join(''))
        expect(tail.raw).toBe(all.subarray(Math.max(0, all.length - limit)).toString())
      }),
    )
  })

  test('shows at most its limit', () => {
    const tail = new OutputTail(10_000)
    tail.push(Buffer.from('\u0007'.repeat(10_000)))
    expect(tail.shown(2_048).length).toBeLessThanOrEqual(2_048)
  })
})
