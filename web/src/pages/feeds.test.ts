import { describe, expect, it } from 'vitest'
import { atomFeed } from './feeds.ts'

describe('a feed', () => {
  const hostile = `</title><script>alert(1)</script>&lt;"'\u0000\u0008\ud800 ü 倒`
  const entry = (path: string, updated: string, category: string | null = null) => {
    return { path, title: hostile, updated, summary: hostile, category }
  }
  const feed = { path: '/@acme', title: hostile, author: hostile, created: '2026-01-01T00:00:00.000Z' }

  it('is newest first, dated by its newest entry, with an ID for each', () => {
    const entries = [entry('/a', '2026-01-02T00:00:00.000Z'), entry('/b', '2026-01-03T00:00:00.000Z', 'yanked')]
    const xml = atomFeed({ ...feed, entries }, 'https://gym.example')
    const ids = [...xml.matchAll(/<id>(.*?)<\/id>/g)].map(([, id]) => id)
    expect(ids).toEqual(['https://gym.example/@acme/feed.atom', 'https://gym.example/b', 'https://gym.example/a'])
    const dates = [...xml.matchAll(/<updated>(.*?)<\/updated>/g)].map(([, date]) => date)
    expect(dates).toEqual(['2026-01-03T00:00:00.000Z', '2026-01-03T00:00:00.000Z', '2026-01-02T00:00:00.000Z'])
    expect(xml.match(/<category term="yanked"\/>/g)).toHaveLength(1)
    expect(atomFeed({ ...feed, entries: [] }, 'https://gym.example')).toContain(`<updated>${feed.created}</updated>`)
  })

  it('escapes everything, and has no character that XML does not allow', () => {
    const xml = atomFeed({ ...feed, entries: [entry(`/${hostile}`, feed.created, hostile)] }, 'https://gym.example')
    const names = new Set([...xml.matchAll(/<\/?([a-z?]+)/g)].map(([, name]) => name))
    const known = ['?xml', 'feed', 'id', 'title', 'updated', 'author', 'name', 'link', 'entry', 'category', 'summary']
    expect([...names].sort()).toEqual(known.sort())
    const codes = [...xml].map((character) => character.codePointAt(0) ?? 0)
    expect(codes.filter((code) => code < 9 || (code >= 0xd800 && code <= 0xdfff))).toEqual([])
    expect(xml).toContain('ü 倒')
  })
})
