import fc from 'fast-check'
import { expect, it } from 'vitest'
import { areIndependent, barredBy, marksOf } from './worker-place.ts'

const places = fc.record({
  owner: fc.constantFrom('a', 'b'),
  machine: fc.constantFrom(null, 'f00dfeed', 'deadbeef'),
})

it('a worker is barred by exactly those that it is not independent of', () => {
  fc.assert(
    fc.property(places, places, (one, other) => {
      const barred = new Set(barredBy(one))
      expect(marksOf(other).some((mark) => barred.has(mark))).toBe(!areIndependent(one, other))
    }),
  )
})
