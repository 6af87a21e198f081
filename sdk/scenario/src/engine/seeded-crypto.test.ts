import { expect, it } from 'vitest'
import { seededCrypto } from './seeded-crypto.ts'

const drawn = (...draws: number[]) => seededCrypto(() => draws.shift() ?? 0.999)

it('fills arrays of integers from its source', () => {
  expect(drawn(0, 0.5).getRandomValues(new Uint8Array(3))).toEqual(Uint8Array.of(0, 128, 255))
  expect(drawn(0.5).getRandomValues(new Int16Array(1))).toEqual(Int16Array.of(-32768))
  expect(drawn(0.25).getRandomValues(new Uint32Array(1))).toEqual(Uint32Array.of(2 ** 30))
  expect(drawn(0.5, 0.25).getRandomValues(new BigUint64Array(1))).toEqual(BigUint64Array.of(2n ** 63n + 2n ** 30n))
  const array = new Uint8Array(0)
  expect(drawn().getRandomValues(array)).toBe(array)
})

it('refuses what the API refuses', () => {
  for (const value of [new Float32Array(1), [0], null, undefined, new DataView(new ArrayBuffer(1))]) {
    expect(() => drawn().getRandomValues(value as object)).toThrow(TypeError)
  }
  expect(() => drawn().getRandomValues(new Uint32Array(16_385))).toThrow('65536 bytes at most, not 65540')
})

it('makes ids of version 4', () => {
  expect(drawn(0, 0, 0, 0).randomUUID()).toBe('00000000-ffff-4fff-bfff-ffffffffffff')
})
