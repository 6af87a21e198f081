import fc from 'fast-check'
import { expect, it } from 'vitest'
import { canonicalName } from './account-name.ts'

const name = fc.string({ unit: fc.constantFrom(...'abilLIoO01.-_xyz9'), maxLength: 20 })

it('detects look-alikes', () => {
  expect(canonicalName('Cart-Pole')).toBe(canonicalName('cart.p0l3'.replace('3', 'e')))
  expect(canonicalName('paypal')).toBe(canonicalName('paypa1'))
  expect(canonicalName('illi')).toBe(canonicalName('1111'))
  expect(canonicalName('o_k')).toBe(canonicalName('OK'))
  expect(canonicalName('maze')).not.toBe(canonicalName('mace'))
})

it('is its own canonical form', () => {
  fc.assert(fc.property(name, (text) => canonicalName(canonicalName(text)) === canonicalName(text)))
})

it('does not depend on case, separators or look-alike letters', () => {
  const disguise: Record<string, string[]> = { l: ['i', '1', 'L', 'I'], o: ['0', 'O'], a: ['A', 'a-', '.a', '_a'] }
  fc.assert(
    fc.property(name, fc.infiniteStream(fc.nat(3)), (text, picks) => {
      const disguised = [...text]
        .map((letter) => {
          const forms = disguise[letter] ?? [letter]
          return forms[picks.next().value % forms.length]
        })
        .join('')
      return canonicalName(disguised) === canonicalName(text)
    }),
  )
})

it('distinguishes other names', () => {
  const plain = fc.string({ unit: fc.constantFrom(...'abcxyz23456789'), maxLength: 20 })
  fc.assert(fc.property(plain, plain, (a, b) => (canonicalName(a) === canonicalName(b)) === (a === b)))
})
