import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { browseAddress, readBrowseQuery } from './browse-query.ts'

const read = (address: string) => readBrowseQuery(new URL(address, 'http://site').searchParams)

describe('the URL of a query', () => {
  it('round-trips the whole query', () => {
    const query = fc.record(
      {
        q: fc.string({ minLength: 1, maxLength: 50, unit: 'grapheme' }).map((text) => text.trim()),
        kind: fc.constantFrom('scenario' as const, 'agent' as const),
        category: fc.constantFrom('control', 'tool use', 'a&b=c', '日本'),
        difficulty: fc.constantFrom('beginner' as const, 'expert' as const),
        algorithm: fc.constantFrom('ppo', 'grpo'),
        price: fc.constantFrom('free' as const, 'paid' as const),
        scenario: fc.constantFrom('@acme/cart-pole', '@a/b&c'),
        solved: fc.constantFrom('yes' as const, 'no' as const),
        cursor: fc.base64String({ minLength: 4 }),
      },
      { requiredKeys: [] },
    )
    const sort = fc.constantFrom('relevance' as const, 'downloads' as const, 'newest' as const, 'quality' as const)
    fc.assert(
      fc.property(query, sort, (rest, sort) => {
        const request = Object.fromEntries(Object.entries({ ...rest, sort }).filter(([, value]) => value !== ''))
        expect(read(browseAddress({ ...rest, sort }, { cursor: rest.cursor }))).toEqual(request)
      }),
    )
  })

  it('a change returns to the first page', () => {
    const query = { sort: 'newest' as const, q: 'pole', cursor: 'abc' }
    expect(browseAddress(query, { kind: 'agent' })).toBe('/packages?q=pole&kind=agent&sort=newest')
    expect(browseAddress(query, { q: undefined, sort: 'relevance' })).toBe('/packages')
  })

  it('ignores invalid parts', () => {
    expect(read('/packages?kind=car&difficulty=&sort=oldest&price=1&limit=9&q=%20&category=%00')).toEqual({
      sort: 'relevance',
    })
    expect(read(`/packages?q=${'a'.repeat(201)}&kind=agent`)).toEqual({ sort: 'relevance', kind: 'agent' })
  })
})
