import type { Context } from 'hono'
import type { Env } from '../../core/http/env.ts'
import type { Services } from '../../core/services.ts'
import { searchPackages } from '../catalog/search-packages.store.ts'
import { searchQuery } from '../search/search-text.ts'

/** As far as `npm search` pages; the site and `GET /v1/packages` go further. */
const reach = 250

/** The catalogue's search in the form of `npm search`. It finds what whoever asks may know of, as everywhere. */
export async function npmSearch({ database, config }: Services, c: Context<Env>): Promise<Response> {
  const from = wholeNumber(c.req.query('from'), 0)
  const size = Math.min(wholeNumber(c.req.query('size'), 20), reach)
  const words = searchQuery((c.req.query('text') ?? '').slice(0, 200))
  const limit = Math.min(from + size, reach)
  const { rows } = await searchPackages(database, c.get('actor'), {
    words,
    sort: 'relevance',
    limit,
    after: null,
  })
  const objects = rows.slice(from, from + size).map((row) => {
    const quality = row.quality / 100
    const publisher = { username: row.name.slice(1, row.name.indexOf('/')), email: '' }
    return {
      package: {
        name: row.name,
        scope: publisher.username,
        version: row.latest_version ?? '',
        description: row.summary ?? '',
        keywords: row.keywords,
        date: row.updated_at.toISOString(),
        links: { npm: `${config.publicUrl}/npm/${row.name}` },
        publisher,
        maintainers: [publisher],
      },
      score: { final: quality, detail: { quality, popularity: 0, maintenance: 0 } },
      searchScore: 1,
    }
  })
  return c.json({ objects, total: rows.length, time: new Date().toISOString() })
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : otherwise
}
