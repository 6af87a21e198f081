import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { box, encodeObservation, text, tokenize } from './index.ts'
import { CachedTokenizer } from './tokenize.ts'

const ids = (words: string) => tokenize(words, { maxTokens: 12 }).filter((id) => id !== 0)

describe('tokenize', () => {
  test('words count, not case, punctuation or spacing', () => {
    expect(ids('Reset my PASSWORD, please!')).toEqual(ids('  reset   my\npassword  please '))
    expect(ids('a-b_c')).toEqual(ids('a b c'))
    expect(ids('')).toEqual([])
    expect(ids('?!… —')).toEqual([])
  })

  test('other scripts: normalised, lower-cased, split where they have no spaces', () => {
    expect(ids('CAFÉ Über')).toEqual(ids('cafe\u0301 u\u0308ber'))
    expect(ids('ПАРОЛЬ')).toEqual(ids('пароль'))
    expect(ids('返金して')).toHaveLength(4)
    expect(ids('請求API')).toEqual([...ids('請'), ...ids('求'), ...ids('api')])
    expect(ids('हिन्दी')).toHaveLength(1)
    expect(ids('ｆｕｌｌ')).toEqual(ids('full'))
    // Turkish and Lithuanian locales lower-case differently; here they do not.
    expect(ids('TITLE')).toEqual(ids('title'))
  })

  test('the ids are pinned: other ids would make every trained agent illiterate', () => {
    expect(tokenize('Refund my payment, bitte schön', { maxTokens: 6, vocabulary: 4096 })).toMatchInlineSnapshot(`
      [
        1656,
        2462,
        3151,
        2865,
        3126,
        0,
      ]
    `)
  })

  test('the cache gives what the tokenizer gives, also when it has started over', () => {
    const tokenizer = new CachedTokenizer(5, 300)
    const row = new Float32Array(7)
    const check = (words: string) => {
      tokenizer.write(words, row.fill(-1), 1)
      expect(Array.from(row)).toEqual([-1, ...tokenize(words, { maxTokens: 5, vocabulary: 300 }), -1])
    }
    fc.assert(
      fc.property(fc.array(fc.constantFrom('', 'a', 'a b', 'b a', 'Grüße, c d e f g'), { maxLength: 20 }), (texts) =>
        texts.forEach(check),
      ),
    )
    // 1,100 texts of 4,000 units are more than it holds.
    for (let i = 0; i < 2200; i++) tokenizer.write(`${i % 1100} word `.padEnd(4000), row, 1)
    for (const words of ['a b', '7 word '.padEnd(4000), 'x'.repeat(5000), 'a b']) check(words)
  })

  test('padding, cutting and ranges', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 2, max: 500 }),
        (words, maxTokens, vocabulary) => {
          const tokens = tokenize(words, { maxTokens, vocabulary })
          expect(tokens).toHaveLength(maxTokens)
          const end = tokens.indexOf(0)
          if (end >= 0) expect(tokens.slice(end).every((id) => id === 0)).toBe(true)
          expect(tokens.every((id) => Number.isInteger(id) && id >= 0 && id < vocabulary)).toBe(true)
          const row = new Float32Array(maxTokens)
          encodeObservation(text({ maxTokens, vocabulary }), words, row)
          expect(Array.from(row)).toEqual(tokens)
          const longer = tokenize(words, { maxTokens: maxTokens + 5, vocabulary })
          expect(longer.slice(0, maxTokens)).toEqual(tokens)
        },
      ),
    )
  })

  test('hashed words spread over the vocabulary', () => {
    const seen = new Set(Array.from({ length: 2000 }, (_, i) => tokenize(`word${i}`, { maxTokens: 1 })[0]))
    // 2,000 words into 4,095 ids: 1,581 distinct ones are expected.
    expect(seen.size).toBeGreaterThan(1500)
  })

  test('mistakes', () => {
    expect(() => tokenize(5 as never, { maxTokens: 4 })).toThrow(/must be a string/)
    expect(() => tokenize('a', { maxTokens: 0 })).toThrow(/maxTokens/)
    expect(() => tokenize('a', { maxTokens: 1, vocabulary: 1 })).toThrow(/vocabulary/)
    expect(() => encodeObservation(box({ shape: [1] }), 'a', new Float32Array(1))).toThrow(TypeError)
  })
})
