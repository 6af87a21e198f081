import { describeOnEngines } from '@agentgym/testkit/databases'
import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { searchQuery } from '../search/index-package.ts'
import { facetCounts } from './search-packages.ts'
import { listed } from './testing/listed.ts'
import { loadPackages } from './testing/load-packages.ts'
import { type SearchCriteria, search, searchAll } from './testing/search-all.ts'
import { type SyntheticPackage, syntheticPackages } from './testing/synthetic-packages.ts'

const scale = isLong ? 3 : 1

/** Keys as they sort: few values, so that there are ties. */
function withTies(item: SyntheticPackage, index: number): SyntheticPackage {
  const hour = String(index % 5).padStart(2, '0')
  return { ...item, downloads: index % 7, quality: 50 + (index % 3), updated_at: `2026-01-01T${hour}:00:00.123Z` }
}

const packages = [...syntheticPackages(150, 7)].map(withTies)
const scenarios = [...new Set(packages.flatMap(({ trained_on: trainedOn }) => trainedOn ?? []))].slice(0, 3)

const filters = fc.record(
  {
    q: fc.constantFrom('', 'agent', 'polic', 'learns the step', 'ca'),
    kind: fc.constantFrom('scenario', 'agent'),
    category: fc.constantFrom('control', 'games', 'nothing'),
    difficulty: fc.constantFrom('beginner', 'expert'),
    algorithm: fc.constantFrom('ppo', 'dqn'),
    price: fc.constantFrom('free', 'paid'),
    scenario: fc.constantFrom(...scenarios),
    solved: fc.constantFrom('yes', 'no'),
    sort: fc.constantFrom('relevance', 'downloads', 'newest', 'quality'),
  },
  { requiredKeys: ['sort'] },
) satisfies fc.Arbitrary<SearchCriteria>

describeOnEngines('pages on $kind', ({ kind, open }) => {
  let database: Database
  let member: Actor
  const isFound = (item: SyntheticPackage, criteria: SearchCriteria) =>
    (criteria.kind === undefined || item.kind === criteria.kind) &&
    (criteria.category === undefined || item.category === criteria.category) &&
    (criteria.difficulty === undefined || item.difficulty === criteria.difficulty) &&
    (criteria.algorithm === undefined || item.algorithm === criteria.algorithm) &&
    (criteria.price === undefined || (item.price_minor > 0 ? 'paid' : 'free') === criteria.price) &&
    (criteria.scenario === undefined || item.trained_on === criteria.scenario) &&
    (criteria.solved === undefined || (item.kind === 'agent' && (item.solved ? 'yes' : 'no') === criteria.solved))

  beforeAll(async () => {
    database = await open()
    member = await createActor(database)
    await loadPackages(database, packages)
    await loadPackages(database, [
      listed(`@${member.username}/mine`, { visibility: 'private', summary: 'agent policy' }),
      listed(`@${member.username}/also-mine`, { visibility: 'private', price_minor: 5, category: 'games' }),
    ])
  })
  afterAll(() => database.close())

  it('cover the whole order for any filters, sort and page size', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 9, max: 60 }), fc.boolean(), async (criteria, limit, known) => {
        const actor = known ? member : null
        const whole = await search(database, { ...criteria, limit: 1000 }, actor)
        const names = whole.rows.map(({ name }) => name)
        expect(await searchAll(database, { ...criteria, limit }, actor)).toEqual(names)
        expect(new Set(names).size).toBe(names.length)
        if ((criteria.q ?? '') === '') {
          const expected = packages.filter((item) => item.visibility === 'public' && isFound(item, criteria))
          expect(names.filter((name) => !name.startsWith(`@${member.username}`)).sort()).toEqual(
            expected.map(({ name }) => name).sort(),
          )
        }
        const keys = whole.rows.map(({ downloads, quality, updated_at }) =>
          criteria.sort === 'newest' ? updated_at.getTime() : criteria.sort === 'quality' ? quality : downloads,
        )
        const isByWords = criteria.sort === 'relevance' && searchQuery(criteria.q ?? '') !== null
        if (!isByWords) expect(keys).toEqual(keys.toSorted((a, b) => b - a))
      }),
      { numRuns: kind === 'pglite' ? 5 * scale : 12 * scale },
    )
  })

  it('facet counts equal the results of each value', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.boolean(), async ({ sort: _, ...criteria }, known) => {
        const actor = known ? member : null
        const request = { ...criteria, sort: 'newest', limit: 1000 } as const
        const { rows, ...found } = await search(database, request, actor)
        const counted = facetCounts(found, { ...request, words: null, after: null })
        expect(counted.total).toBe(rows.length)
        for (const [dimension, values] of Object.entries(counted.facets)) {
          const chosen = values.at(-1)
          if (chosen === undefined) continue
          const narrowed = await search(database, { ...request, [dimension]: chosen.value }, actor)
          expect(narrowed.rows).toHaveLength(chosen.count)
        }
      }),
      { numRuns: kind === 'pglite' ? 3 * scale : 6 * scale },
    )
  })

  it('count scenarios and outcomes in lists of agents only', async () => {
    const trained = packages.filter(({ trained_on: trainedOn }) => trainedOn !== null).map(({ name }) => name)
    const [scenario] = scenarios
    for (const q of ['', 'the']) {
      const facetsOf = async (criteria: SearchCriteria) => {
        const found = await search(database, { ...criteria, q })
        return facetCounts(found, { ...criteria, sort: 'newest', limit: 20, words: null, after: null }).facets
      }
      expect(await facetsOf({})).toMatchObject({ scenario: [], solved: [] })
      const facets = await facetsOf({ kind: 'agent', scenario })
      const agents = (await search(database, { kind: 'agent', q, limit: 1000 })).rows
      expect(facets.scenario?.reduce((sum, { count }) => sum + count, 0)).toBe(
        agents.filter(({ name }) => trained.includes(name)).length,
      )
      expect(facets.solved).toHaveLength(2)
    }
  })

  it.each(['newest', 'quality', 'downloads', 'relevance'] as const)(
    'by %s, contain existing packages once while others are added',
    async (sort) => {
      for (const q of ['', 'agent']) {
        const before = await searchAll(database, { q, sort, limit: 1000 })
        let added = 0
        const paged = await searchAll(database, { q, sort, limit: 40 }, null, async () => {
          const batch = [0, 1, 2].map((index) =>
            listed(`@late/${sort}-${q}x-${added}-${index}`, {
              summary: 'agent',
              downloads: index * 3,
              quality: 50 + index,
              updated_at: `2026-01-01T0${index}:00:00.123Z`,
            }),
          )
          added++
          await loadPackages(database, batch)
        })
        expect(paged.filter((name) => !name.startsWith('@late/'))).toEqual(
          before.filter((name) => !name.startsWith('@late/')),
        )
        expect(new Set(paged).size).toBe(paged.length)
      }
    },
  )

  it('count agents by sums that follow every change', async () => {
    const differences = async () => {
      const { rows } = await database.execute(
        `(select category, difficulty, algorithm, paid, solved::text, sum(packages)::bigint from agent_counts group by 1, 2, 3, 4, 5
          except select category, difficulty, algorithm, paid, solved::text, packages from agent_facets)
        union all
        (select scenario, '', '', false, coalesce(sum(packages) filter (where solved), 0)::text, sum(packages)::bigint from agent_counts
            where scenario <> '' group by 1
          except select scenario, '', '', false, solved::text, packages from agent_scenarios)`,
      )
      return rows
    }
    expect(await differences()).toEqual([])
    const agents = database.query.updateTable('packages').where('kind', '=', 'agent')
    await agents.set({ solved: true, visibility: 'private' }).execute()
    expect(await differences()).toEqual([])
    await agents.set({ solved: false, visibility: 'public' }).where('name', '>', '@m').execute()
    expect(await differences()).toEqual([])
  })

  it('are one empty page without results', async () => {
    expect(await search(database, { category: 'nothing' })).toMatchObject({ rows: [], end: null })
    expect(await search(database, { q: 'nowhereatall' })).toEqual({ rows: [], end: null, groups: [], scenarios: [] })
  })
})
