import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OutputTail } from './output-tail.ts'

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
