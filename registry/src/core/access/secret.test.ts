import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hashSecret, isSecret, makeSecret } from './secret.ts'

it('creates unique secrets of one form', () => {
  const made = Array.from({ length: 1_000 }, () => makeSecret('agt_'))
  expect(new Set(made).size).toBe(1_000)
  for (const secret of made) {
    expect(secret).toMatch(/^agt_[0-9A-Za-z]{33}$/)
    expect(isSecret('agt_', secret)).toBe(true)
    expect(isSecret('agd_', secret)).toBe(false)
  }
})

it('detects a mistyped secret by its checksum', () => {
  fc.assert(
    fc.property(fc.nat(36), fc.constantFrom(...'0aZ'), (at, letter) => {
      const secret = makeSecret('agt_')
      const changed = secret.slice(0, at) + letter + secret.slice(at + 1)
      return isSecret('agt_', changed) === (changed === secret)
    }),
  )
})

it('classifies any text correctly', () => {
  fc.assert(fc.property(fc.string(), (text) => !isSecret('agt_', text)))
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
