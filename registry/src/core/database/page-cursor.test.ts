import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from './page-cursor.ts'

describe('a cursor', () => {
  const secret = randomBytes(32)
  const end = { key: 1_790_000_000_123, id: randomUUID() }
  const cursor = encodeCursor(secret, 'query', end)

  it('encodes the end of the page', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.uuid(), fc.string(), (key, id, query) => {
        expect(decodeCursor(secret, query, encodeCursor(secret, query, { key, id }))).toEqual({ key, id })
      }),
    )
  })

  it('is invalid for another query or server, or if altered', () => {
    const refused = expect.objectContaining({ code: 'request_invalid', data: { field: 'cursor', in: 'query' } })
    const attempt = (read: () => unknown) => {
      try {
        return read()
      } catch (error) {
        return error
      }
    }
    expect(attempt(() => decodeCursor(secret, 'other', cursor))).toEqual(refused)
    expect(attempt(() => decodeCursor(randomBytes(32), 'query', cursor))).toEqual(refused)
    for (let at = 0; at < cursor.length; at++) {
      // Of the last character of base64url not every bit counts.
      if (at === cursor.length - 1) continue
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
      expect(attempt(() => decodeCursor(secret, 'query', changed))).toEqual(refused)
    }
  })

  it('is refused for any forged input', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.base64String().map((text) => `${text}.${text}`),
        ),
        (text) => {
          expect(() => decodeCursor(secret, 'query', text)).toThrow('cursor')
        },
      ),
    )
  })
})
