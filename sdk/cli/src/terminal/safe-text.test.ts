import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeText } from './safe-text.ts'
import { shellQuote } from './shell-quote.ts'

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

  it('cuts what is too long, by characters', () => {
    expect(safeText('🤖'.repeat(50), 10)).toBe(`${'🤖'.repeat(9)}…`)
    expect(safeText('x'.repeat(2_000_000), 100)).toHaveLength(100)
  })

  it('never lets a control or reordering character through, whatever the text', () => {
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
  it('quotes only what a shell would change', () => {
    expect(shellQuote('agents/cart-pole')).toBe('agents/cart-pole')
    expect(shellQuote('my agents')).toBe("'my agents'")
    expect(shellQuote("it's $HOME")).toBe("'it'\\''s $HOME'")
    expect(shellQuote('')).toBe("''")
  })
})
