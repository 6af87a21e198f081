import fc from 'fast-check'
import { expect, it } from 'vitest'
import { areIndependent, barredBy, marksOf } from './worker-place.ts'

const places = fc.record({
  owner: fc.constantFrom('a', 'b'),
  machine: fc.constantFrom(null, 'f00dfeed', 'deadbeef'),
})

it('bars exactly the workers that are not independent', () => {
  fc.assert(
    fc.property(places, places, (one, other) => {
      const barred = new Set(barredBy(one))
      expect(marksOf(other).some((mark) => barred.has(mark))).toBe(!areIndependent(one, other))
    }),
  )
})
