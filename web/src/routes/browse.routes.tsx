import { route } from '../app/route.ts'
import { BrowsePage, browseTitle } from '../pages/browse/browse-page.tsx'
import { readBrowseQuery } from '../pages/browse/browse-query.ts'

export const browseRoutes = [
  route('get', '/packages', { access: 'public' }, async (visit) => {
    const query = readBrowseQuery(visit.query)
    const { data } = await visit.api.GET('/v1/packages', { params: { query: { ...query, limit: 20 } } })
    const found = data ?? { packages: [], total: 0, next_cursor: null, facets: noFacets }
    return visit.page(<BrowsePage found={found} query={query} />, {
      title: browseTitle(query),
      description: 'Reinforcement-learning scenarios and verified agents, by kind, difficulty, quality and price.',
      hidden: query.cursor !== undefined,
    })
  }),
]

const noFacets = { kind: [], category: [], difficulty: [], algorithm: [], price: [] }
