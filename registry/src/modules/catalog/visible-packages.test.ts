import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember } from '../../core/access/memberships.store.ts'
import type { Database } from '../../core/database/database.ts'
import type { Role } from '../../core/database/schema.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { listPackageNames } from './package-names.ts'
import { facetCounts } from './search-packages.ts'
import { listed } from './testing/listed.ts'
import { loadPackages } from './testing/load-packages.ts'
import { type SearchCriteria, search } from './testing/search-all.ts'

const ways: SearchCriteria[] = [
  { sort: 'downloads' },
  { sort: 'newest' },
  { sort: 'quality' },
  { q: 'zephyr' },
  { q: 'secret-zephyr' },
  { q: '@lab/secret-zephyr' },
  { q: 'se', sort: 'newest' },
  { category: 'secrets' },
]

describeOnEngines('private packages on $kind', ({ open }) => {
  let database: Database
  let owner: Actor
  let organizationId: string
  const roles = new Map<Role, Actor>()

  beforeAll(async () => {
    database = await open()
    owner = await createActor(database)
    const mine = listed(`@${owner.username}/secret-zephyr`, { visibility: 'private', category: 'secrets' })
    await loadPackages(database, [
      mine,
      listed('@lab/secret-zephyr', { visibility: 'private', category: 'secrets', summary: 'zephyr' }),
      listed('@lab/open-zephyr', { summary: 'secret' }),
    ])
    // The loader makes users; members are an organization's.
    const organisation = await database.query
      .insertInto('accounts')
      .values({ kind: 'organisation', username: 'guild', username_canonical: 'guild', ...noUser })
      .returning('id')
      .executeTakeFirstOrThrow()
    organizationId = organisation.id
    await loadPackages(database, [
      listed('@guild/secret-zephyr', { visibility: 'private', category: 'secrets', price_minor: 100 }),
    ])
    for (const role of ['viewer', 'member', 'admin', 'owner'] as const) {
      const actor = await createActor(database)
      await putMember(database.query, organizationId, actor.accountId, role)
      roles.set(role, actor)
    }
  })
  afterAll(() => database.close())

  it('are not among the names of all packages, whose pages follow each other', async () => {
    const { packages, pages } = await listPackageNames(database.query, 1)
    expect(await listPackageNames(database.query, 50_000)).toEqual({ packages: [], pages })
    const names = packages.map(({ name }) => name)
    expect(names).toContain('@lab/open-zephyr')
    expect(names.filter((name) => name.includes('secret'))).toEqual([])
    expect(names).toEqual(names.toSorted())
    const paged = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const one = await listPackageNames(database.query, page, 1)
      pages = one.pages
      paged.push(...one.packages.map(({ name }) => name))
    }
    expect(paged).toEqual(names)
  })

  const secrets = async (criteria: SearchCriteria, actor: Actor | null) => {
    const { rows, ...found } = await search(database, criteria, actor)
    const { facets } = facetCounts(found, { sort: 'newest', limit: 20, words: null, after: null })
    const counted = facets.category.find(({ value }) => value === 'secrets')?.count ?? 0
    const names = rows.map(({ name }) => name).filter((name) => name.includes('secret'))
    return { names, counted }
  }

  it.each(ways)('are not found or counted for others: %j', async (criteria) => {
    const stranger = await createActor(database)
    for (const actor of [null, stranger]) expect(await secrets(criteria, actor)).toEqual({ names: [], counted: 0 })
  })

  it.each(ways.filter(({ q }) => q !== '@lab/secret-zephyr'))('are found by their owner: %j', async (criteria) => {
    expect(await secrets(criteria, owner)).toEqual({ names: [`@${owner.username}/secret-zephyr`], counted: 1 })
  })

  it.each(ways.filter(({ q }) => q !== '@lab/secret-zephyr'))(
    'are found by every role of their account: %j',
    async (criteria) => {
      for (const actor of roles.values())
        expect(await secrets(criteria, actor)).toEqual({ names: ['@guild/secret-zephyr'], counted: 1 })
    },
  )

  it('are hidden from a token without the scope', async () => {
    const token: Actor = {
      ...owner,
      tokenId: '00000000-0000-0000-0000-000000000001',
      scopes: new Set(['packages:publish']),
    }
    for (const criteria of ways) expect(await secrets(criteria, token)).toEqual({ names: [], counted: 0 })
  })

  it('are hidden from former members', async () => {
    const left = roles.get('admin') ?? owner
    await database.query.deleteFrom('memberships').where('user_id', '=', left.accountId).execute()
    for (const criteria of ways) expect(await secrets(criteria, left)).toEqual({ names: [], counted: 0 })
  })

  it('are counted according to their current visibility', async () => {
    const counts = async () =>
      (await search(database, { limit: 1 })).groups.reduce((sum, group) => sum + group.packages, 0)
    const set = (visibility: 'public' | 'private', latest: string | null) =>
      database.query
        .updateTable('packages')
        .set({ visibility, latest_version: latest })
        .where('name', '=', '@lab/secret-zephyr')
        .execute()
    expect(await counts()).toBe(1)
    await set('public', '1.0.0')
    expect(await counts()).toBe(2)
    await set('public', null)
    expect(await counts()).toBe(1)
    await set('private', '1.0.0')
    expect(await counts()).toBe(1)
    const kept = await sql<{ packages: number }>`select packages from package_counts where packages <> 0`.execute(
      database.query,
    )
    expect(kept.rows).toEqual([{ packages: 1 }])
  })
})

const noUser = { display_name: null, email: null, email_verified_at: null, password_hash: null, disabled_at: null }
