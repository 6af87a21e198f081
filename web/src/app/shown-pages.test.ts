import { describe, expect, it } from 'vitest'
import { keepShownPages } from './shown-pages.ts'

const page = (text: string, forMs = 60_000) => ({ bytes: Buffer.from(text), untilMs: performance.now() + forMs })
const shown = (pages: ReturnType<typeof keepShownPages>, key: string) => pages.find(key)?.bytes.toString()

describe('pages that strangers were shown', () => {
  it('are shown again by their key alone, the latest of each', () => {
    const pages = keepShownPages({ mostBytes: 10_000 })
    pages.keep('/a', page('one'))
    pages.keep('/a', page('two'))
    expect(shown(pages, '/a')).toBe('two')
    expect(shown(pages, '/a?')).toBeUndefined()
  })

  it('are not shown once what they were drawn from is old', () => {
    const pages = keepShownPages({ mostBytes: 10_000 })
    pages.keep('/a', page('fresh'))
    pages.keep('/a', page('old', 0))
    pages.keep('/b', page('old', -1))
    expect(shown(pages, '/a')).toBeUndefined()
    expect(shown(pages, '/b')).toBeUndefined()
  })

  it('are kept up to a size, with their keys, the oldest going first', () => {
    const pages = keepShownPages({ mostBytes: 3000 })
    for (const key of ['/a', '/b', '/c', '/d']) pages.keep(key, page('x'.repeat(600)))
    expect(['/a', '/b', '/c', '/d'].map((key) => pages.find(key) !== undefined)).toEqual([false, true, true, true])
    pages.keep('/e', page('x'.repeat(3000)))
    pages.keep(`/${'f'.repeat(1500)}`, page('x'))
    expect(pages.find('/e')).toBeUndefined()
    expect(pages.find('/d')).toBeDefined()
    for (let round = 0; round < 1000; round++) pages.keep(`/${round}`, page('x'.repeat(600)))
    expect(pages.find('/999')).toBeDefined()
    expect(pages.find('/990')).toBeUndefined()
  })
})
