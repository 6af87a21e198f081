import type { Facets } from '@agentgym/contract'
import type { PackageSearch } from './package-search.ts'

/** What a search is narrowed by. */
export const dimensions = ['kind', 'category', 'difficulty', 'algorithm', 'price'] as const
type Dimension = (typeof dimensions)[number]

/** How many packages share these values; '' where they have none. */
export type FacetGroup = Record<Dimension, string> & { packages: number }

const maxValues = 50

/** Facets and total of a search, from the packages that it finds before its filters, grouped by all dimensions at once. */
export function facetCounts(groups: FacetGroup[], search: PackageSearch): { facets: Facets; total: number } {
  const fits = (group: FacetGroup, except?: Dimension) =>
    dimensions.every((dimension) => {
      const wanted = search[dimension]
      return dimension === except || wanted === undefined || group[dimension] === wanted
    })
  const facet = (dimension: Dimension) => {
    const fitting = groups.filter((group) => fits(group, dimension))
    return addUp(fitting, dimension)
  }
  return {
    facets: {
      kind: facet('kind'),
      category: facet('category'),
      difficulty: facet('difficulty'),
      algorithm: facet('algorithm'),
      price: facet('price'),
    },
    total: groups.filter((group) => fits(group)).reduce((sum, group) => sum + group.packages, 0),
  }
}

function addUp(groups: FacetGroup[], dimension: Dimension): { value: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const group of groups) {
    const value = group[dimension]
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + group.packages)
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    .slice(0, maxValues)
}
