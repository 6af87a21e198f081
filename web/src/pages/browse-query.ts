import { type SearchRequest, searchRequestSchema } from '@agentgym/contract'

/** State of the browse page, all of it in the URL. */
export type BrowseQuery = Omit<SearchRequest, 'limit'>

export const facetNames = ['kind', 'scenario', 'category', 'difficulty', 'algorithm', 'solved', 'price'] as const
export type FacetName = (typeof facetNames)[number]
const keys = ['q', ...facetNames, 'sort', 'cursor'] as const

/** Parses the query of a URL. Invalid parts are ignored, so that old links and typing errors still give results. */
export function readBrowseQuery(params: URLSearchParams): BrowseQuery {
  const { shape } = searchRequestSchema
  const pairs = keys.flatMap((key) => {
    const given = params.get(key)?.trim() || undefined
    if (given === undefined) return []
    const parsed = shape[key].safeParse(given)
    return parsed.success ? [[key, parsed.data]] : []
  })
  return { sort: 'relevance', ...Object.fromEntries(pairs) }
}

/** The URL of a changed query, on its first page. `undefined` removes a part. */
export function browseAddress(query: BrowseQuery, change: Partial<BrowseQuery> = {}): string {
  const { sort, ...rest } = { ...query, cursor: undefined, ...change }
  const params = new URLSearchParams()
  for (const key of keys) {
    const value = key === 'sort' ? (sort === 'relevance' ? undefined : sort) : rest[key]
    if (value !== undefined && value !== '') params.set(key, value)
  }
  return params.size === 0 ? '/packages' : `/packages?${params}`
}
