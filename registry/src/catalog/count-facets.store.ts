import type { Facets } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../auth/actor.ts'
import type { Queries } from '../database/database.ts'
import { matches, type PackageSearch } from './search-packages.store.ts'
import { ownPackages, readsPrivate, visiblePackages } from './visible-packages.ts'

const dimensions = ['kind', 'category', 'difficulty', 'algorithm', 'price'] as const
type Dimension = (typeof dimensions)[number]

/** How many packages share these values; '' where they have none. */
type Group = Record<Dimension, string> & { packages: number }

const maxValues = 50

/**
 * Facets and total of a search. Packages are counted once, by what they have of all dimensions together (a few hundred
 * combinations); the rest is adding up.
 */
export async function countFacets(
  query: Queries,
  actor: Actor | null,
  search: PackageSearch,
): Promise<{ facets: Facets; total: number }> {
  const groups = search.words === null ? await allGroups(query, actor) : await matchingGroups(query, actor, search)
  const fits = (group: Group, except?: Dimension) =>
    dimensions.every((dimension) => {
      const wanted = search[dimension]
      return dimension === except || wanted === undefined || group[dimension] === wanted
    })
  const facet = (dimension: Dimension) =>
    addUp(
      groups.filter((group) => fits(group, dimension)),
      dimension,
    )
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

function addUp(groups: Group[], dimension: Dimension): { value: string; count: number }[] {
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

/** Public ones are counted already, by triggers; the actor's own private ones are few. */
async function allGroups(query: Queries, actor: Actor | null): Promise<Group[]> {
  const counted = query
    .selectFrom('package_counts')
    .select(['kind', 'category', 'difficulty', 'algorithm'])
    .select(sql<string>`case when paid then 'paid' else 'free' end`.as('price'))
    .select('packages')
    .where('packages', '>', 0)
  if (!readsPrivate(actor)) return counted.execute()
  const own = groupsOf(query).where('packages.visibility', '=', 'private').where(ownPackages(actor))
  const [all, mine] = await Promise.all([counted.execute(), own.execute()])
  return [...all, ...mine]
}

function matchingGroups(query: Queries, actor: Actor | null, search: PackageSearch): Promise<Group[]> {
  return groupsOf(query).where(visiblePackages(actor)).where(matches(search)).execute()
}

function groupsOf(query: Queries) {
  return query
    .selectFrom('packages')
    .select('kind')
    .select(sql<string>`coalesce(category, '')`.as('category'))
    .select(sql<string>`coalesce(difficulty, '')`.as('difficulty'))
    .select(sql<string>`coalesce(algorithm, '')`.as('algorithm'))
    .select(sql<string>`case when price_minor > 0 then 'paid' else 'free' end`.as('price'))
    .select(sql<number>`count(*)`.as('packages'))
    .where('latest_version', 'is not', null)
    .groupBy(sql`1, 2, 3, 4, 5`)
}
