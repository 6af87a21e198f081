import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeOutput } from './escape-output.ts'

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
