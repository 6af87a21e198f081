import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderDocs } from './render-docs.ts'
import { searchDocs } from './site-docs.ts'

const docs = renderDocs(join(import.meta.dirname, '../../..'))
const pages = Object.values(docs.bySlug)

describe('the documents of the site', () => {
  it('are those of the index, each with a title, a description and a summary', () => {
    const listed = docs.groups.flatMap(({ entries }) => entries)
    expect(new Set(listed.map(({ slug }) => slug)).size).toBe(listed.length)
    expect(listed.map(({ slug }) => slug).sort()).toEqual(pages.map(({ slug }) => slug).sort())
    expect(listed.map(({ slug }) => slug)).toEqual(expect.arrayContaining(['install', 'scenario-interface', 'terms']))
    for (const { slug, summary } of listed) expect(summary, slug).toMatch(/^[\p{Lu}]/u)
    for (const { slug, title, description, html } of pages) {
      expect([slug, title.length > 2, description.length > 20]).toEqual([slug, true, true])
      expect(html, slug).not.toMatch(/<(script|style|img|h1)\b|<[^>]*\s(style|on\w+)=/)
    }
  })

  it('link to each other and to existing headings', () => {
    const ids = new Map(
      pages.map(({ slug, html }) => [slug, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
    )
    const links = pages.flatMap(({ slug, html }) =>
      [...html.matchAll(/ href="([^"]*)"/g)].map(([, target]) => ({ slug, target: decodeURIComponent(target) })),
    )
    expect(links.length).toBeGreaterThan(100)
    for (const { slug, target } of links) {
      if (/^(https?:|mailto:)/.test(target)) continue
      const [path, anchor] = target.split('#')
      const to = path === '' ? slug : path.replace('/docs/', '')
      expect([slug, target, ids.has(to)]).toEqual([slug, target, true])
      if (anchor !== undefined) expect([slug, target, ids.get(to)?.has(anchor)]).toEqual([slug, target, true])
    }
  })
})

describe('search', () => {
  it('finds sections with all words, documents about them first', () => {
    expect(searchDocs(docs, 'Royalty')[0]).toMatchObject({ slug: expect.stringMatching(/market|pricing/) })
    expect(searchDocs(docs, 'second fact')[0].slug).toBe('second-factor')
    for (const { excerpt } of searchDocs(docs, 'refund')) expect(excerpt.length).toBeLessThan(200)
    expect(searchDocs(docs, 'refund').length).toBeGreaterThan(3)
  })

  it('finds nothing for no words, unknown words and signs', () => {
    for (const q of ['', '  ', '(((', 'refund zzzzqqq', '.*']) expect([q, searchDocs(docs, q)]).toEqual([q, []])
  })
})
