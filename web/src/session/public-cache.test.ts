import { describe, expect, it } from 'vitest'
import { PublicCache, pageOf } from './public-cache.ts'

/** An API that counts its calls. */
function counting(answer: (count: number) => Response = (count) => Response.json({ count })) {
  const requested: string[] = []
  const call = async ({ url }: Request) => {
    requested.push(url)
    return answer(requested.length)
  }
  return { requested, call }
}
const request = (path = '/v1/packages') => new Request(`http://localhost${path}`)
const cache = ({ ttlMs = 60_000, maxBytes = 1_000_000 } = {}) => new PublicCache({ ttlMs, maxBytes })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('answers without a session', () => {
  it('are requested once for all waiting callers, and cached', async () => {
    const { requested, call } = counting()
    const answers = cache()
    const found = await Promise.all([1, 2, 3].map(() => answers.fetch(request(), call)))
    found.push(await answers.fetch(request(), call))
    expect(await Promise.all(found.map((one) => one.json()))).toEqual(Array(4).fill({ count: 1 }))
    expect(requested).toHaveLength(1)
  })

  it('are cached by the full URL', async () => {
    const { requested, call } = counting()
    const answers = cache()
    for (const path of ['/a', '/a?b', '/a?c', '/a']) await answers.fetch(request(path), call)
    expect(requested).toHaveLength(3)
  })

  it('are requested again once expired', async () => {
    const { requested, call } = counting()
    const answers = cache({ ttlMs: 1 })
    await answers.fetch(request(), call)
    await pause(10)
    await answers.fetch(request(), call)
    expect(requested).toHaveLength(2)
  })

  it('are not cached after a failure', async () => {
    const { requested, call } = counting((count) => {
      if (count === 1) throw new Error('the connection broke')
      return Response.json({ count }, { status: count === 2 ? 429 : 200 })
    })
    const answers = cache()
    const ttls: number[] = []
    const fetched = async () => (await answers.fetch(request(), call, (ttlMs) => ttls.push(ttlMs))).status
    await expect(fetched()).rejects.toThrow('broke')
    expect([await fetched(), await fetched(), await fetched()]).toEqual([429, 200, 200])
    expect(requested).toHaveLength(3)
    expect(ttls.map((ttlMs) => ttlMs > 0)).toEqual([false, true, true])
  })

  it('are evicted by size, least recently used first', async () => {
    const { requested, call } = counting(() => new Response('x'.repeat(1_000)))
    const answers = cache({ maxBytes: 5_000 })
    for (const path of ['/a', '/b', '/c', '/c', '/b', '/a']) await answers.fetch(request(path), call)
    expect(requested.map((url) => new URL(url).pathname)).toEqual(['/a', '/b', '/c', '/a'])
  })

  it('are not cached if too large', async () => {
    const { requested, call } = counting(() => new Response('x'.repeat(600_000)))
    const answers = cache({ maxBytes: 10_000_000 })
    for (const path of ['/a', '/a']) await answers.fetch(request(path), call)
    expect(requested).toHaveLength(2)
  })
})

describe('pages without a session', () => {
  const shown = (pages: PublicCache, key: string) => pages.page(key)?.bytes.toString()

  it('are cached by key, the latest of each', () => {
    const pages = cache()
    pages.keepPage('/a', pageOf('one'), 60_000)
    pages.keepPage('/a', pageOf('two'), 60_000)
    expect(shown(pages, '/a')).toBe('two')
    expect(shown(pages, '/a?')).toBeUndefined()
  })

  it('expire with their oldest response', async () => {
    const pages = cache()
    pages.keepPage('/a', pageOf('fresh'), 60_000)
    pages.keepPage('/a', pageOf('old'), 0)
    pages.keepPage('/b', pageOf('old'), -1)
    pages.keepPage('/c', pageOf('soon old'), 1)
    await pause(10)
    for (const key of ['/a', '/b', '/c']) expect(shown(pages, key)).toBeUndefined()
  })

  it('are evicted by size including keys, oldest first', () => {
    const pages = cache({ maxBytes: 3_000 })
    for (const key of ['/a', '/b', '/c', '/d']) pages.keepPage(key, pageOf('x'.repeat(600)), 60_000)
    expect(['/a', '/b', '/c', '/d'].map((key) => shown(pages, key) !== undefined)).toEqual([false, true, true, true])
    pages.keepPage('/e', pageOf('x'.repeat(3_000)), 60_000)
    pages.keepPage(`/${'f'.repeat(1_500)}`, pageOf('x'), 60_000)
    expect(shown(pages, '/e')).toBeUndefined()
    expect(shown(pages, '/d')).toBeDefined()
    for (let round = 0; round < 1_000; round++) pages.keepPage(`/${round}`, pageOf('x'.repeat(600)), 60_000)
    expect(shown(pages, '/999')).toBeDefined()
    expect(shown(pages, '/990')).toBeUndefined()
  })

  it('have an entity tag from their content', () => {
    expect(pageOf('one').etag).toMatch(/^W\/"[\w-]{27}"$/)
    expect(pageOf('one').etag).toBe(pageOf('one').etag)
    expect(pageOf('one').etag).not.toBe(pageOf('two').etag)
  })
})
