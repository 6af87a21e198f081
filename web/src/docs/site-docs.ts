import { readFileSync } from 'node:fs'

/** The documents of the site, rendered from `docs/` when the site is built. */
export type SiteDocs = {
  /** In the order of `docs/README.md`. */
  groups: DocGroup[]
  bySlug: Record<string, Doc>
}

export type DocGroup = { title: string; entries: DocEntry[] }

/** A document as the index lists it. */
export type DocEntry = { slug: string; title: string; summary: string }

export type Doc = {
  slug: string
  title: string
  /** Its first paragraph, as text. */
  description: string
  /** Trusted: from files of the repository. Without the title. */
  html: string
  /** Its text by heading, for search. The first is the text above all headings. */
  sections: DocSection[]
}

/** `anchor`: ID of the heading; null at the beginning of the document. */
export type DocSection = { anchor: string | null; heading: string; text: string }

/** The documents that `web/build.ts` has written. */
export function readSiteDocs(file: string): SiteDocs {
  return JSON.parse(readFileSync(file, 'utf8')) as SiteDocs
}

/** A section that contains all searched words. */
export type DocHit = { slug: string; title: string; anchor: string | null; heading: string; excerpt: string }

const mostHits = 20
const excerptCharacters = 180

/** Sections that contain words beginning with each word of `q`, best first. */
export function searchDocs({ bySlug }: SiteDocs, q: string): DocHit[] {
  const words = wordsOf(q)
  if (words.length === 0) return []
  const scored = Object.values(bySlug).flatMap(({ slug, title, sections }) =>
    sections.flatMap(({ anchor, heading, text }) => {
      const score = scoreOf(words, { title, heading, text })
      return score === 0 ? [] : [{ score, hit: { slug, title, anchor, heading, excerpt: excerptOf(text, words) } }]
    }),
  )
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, mostHits)
    .map(({ hit }) => hit)
}

/** Lower-case words of a text, as they are searched for. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== '')
    .slice(0, 12)
}

/** 0 unless every word begins a word of the title, the heading or the text. Titles count more than text. */
function scoreOf(words: string[], { title, heading, text }: { title: string; heading: string; text: string }): number {
  let score = 0
  for (const word of words) {
    const begins = new RegExp(`(?<![\\p{L}\\p{N}_])${word}`, 'giu')
    const count = (of: string) => of.match(begins)?.length ?? 0
    const found = 12 * Math.min(1, count(title)) + 6 * Math.min(1, count(heading)) + Math.log2(1 + count(text))
    if (found === 0) return 0
    score += found
  }
  return score
}

/** The text around the first searched word. */
function excerptOf(text: string, words: string[]): string {
  const first = text.toLowerCase().indexOf(words[0])
  const from = first < excerptCharacters / 2 ? 0 : text.indexOf(' ', first - excerptCharacters / 2) + 1
  const part = text.slice(from, from + excerptCharacters)
  const end = from + part.length < text.length ? part.lastIndexOf(' ') : part.length
  return `${from > 0 ? '… ' : ''}${part.slice(0, end)}${end < part.length ? ' …' : ''}`
}
