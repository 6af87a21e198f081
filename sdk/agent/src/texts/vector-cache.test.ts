import fc from 'fast-check'
import { expect, it } from 'vitest'
import { VectorCache } from './vector-cache.ts'

const operations = fc.array(fc.record({ write: fc.boolean(), text: fc.constantFrom(...'abcdefgh') }), { maxLength: 60 })

it('remembers the texts that were used last, and never more than its capacity', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), operations, (capacity, steps) => {
      const cache = new VectorCache(capacity)
      /** Least recently used first. */
      let expected: [text: string, vector: Float32Array][] = []
      steps.forEach(({ write, text }, i) => {
        const known = expected.find(([each]) => each === text)?.[1]
        const vector = write ? Float32Array.of(i) : known
        if (write) cache.set(text, Float32Array.of(i))
        else expect(cache.get(text)).toEqual(known)
        if (vector !== undefined) {
          expected = [...expected.filter(([each]) => each !== text), [text, vector]]
          expected = expected.slice(-capacity)
        }
        expect(cache.size).toBe(expected.length)
      })
      for (const [text, vector] of expected) expect(cache.get(text)).toEqual(vector)
    }),
  )
})
