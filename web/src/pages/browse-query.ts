import { type SearchRequest, searchRequestSchema } from '@agentgym/contract'

/** What is being browsed; all of it stands in the address. */
export type BrowseQuery = Omit<SearchRequest, 'limit'>

export const facetNames = ['kind', 'category', 'difficulty', 'algorithm', 'price'] as const
export type FacetName = (typeof facetNames)[number]
const keys = ['q', ...facetNames, 'sort', 'cursor'] as const

/** What an address asks for. A part that nobody can mean is left out: old links and typing errors still find something. */
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

/** The address of a changed query, on its first page. `undefined` takes a part out. */
export function browseAddress(query: BrowseQuery, change: Partial<BrowseQuery> = {}): string {
  const { sort, ...rest } = { ...query, cursor: undefined, ...change }
  const params = new URLSearchParams()
  for (const key of keys) {
    const value = key === 'sort' ? (sort === 'relevance' ? undefined : sort) : rest[key]
    if (value !== undefined && value !== '') params.set(key, value)
  }
  return params.size === 0 ? '/packages' : `/packages?${params}`
}
