import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { selectPage } from './package-page.ts'
import { findSimilarScenarios } from './similar-scenarios.ts'
import { listed } from './testing/listed.ts'
import { loadPackages } from './testing/load-packages.ts'

describeOnEngines('similar scenarios on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await loadPackages(database, [
      listed('@acme/cart-pole', { title: 'Cart pole', keywords: ['balance', 'pole', 'cart'] }),
      listed('@acme/acrobot', { title: 'Acrobot', keywords: ['balance', 'links'] }),
      listed('@acme/two-poles', { title: 'Two poles', keywords: ['balance', 'pole'], category: 'robotics' }),
      listed('@acme/maze', { title: 'Maze', keywords: ['grid'], category: 'games' }),
      listed('@acme/hidden-pole', { title: 'Pole', keywords: ['balance', 'pole', 'cart'], visibility: 'private' }),
      listed('@acme/pole-ppo', { kind: 'agent', title: 'Pole', keywords: ['balance', 'pole', 'cart'] }),
    ])
  })
  afterAll(() => database.close())

  const similarTo = async (name: string) => {
    const { similar } = await selectPage(database.query).where('packages.name', '=', name).executeTakeFirstOrThrow()
    return similar?.map((one) => one.name) ?? null
  }
  const find = (at = new Date()) => findSimilarScenarios(database.query, at)

  it('share keywords, category or words of the title, the most similar first; only what everyone may see', async () => {
    expect(await similarTo('@acme/cart-pole')).toBeNull()
    await find()
    expect(await similarTo('@acme/cart-pole')).toEqual(['@acme/two-poles', '@acme/acrobot'])
    expect(await similarTo('@acme/maze')).toBeNull()
    expect(await similarTo('@acme/pole-ppo')).toBeNull()
  })

  it('are found for new versions, and for others within a day', async () => {
    await loadPackages(database, [listed('@acme/grid', { title: 'Grid', keywords: ['grid'], category: 'games' })])
    await find()
    expect(await similarTo('@acme/grid')).toEqual(['@acme/maze'])
    expect(await similarTo('@acme/maze')).toBeNull()
    await find(new Date(Date.now() + 25 * 3_600_000))
    expect(await similarTo('@acme/maze')).toEqual(['@acme/grid'])
    await database.query
      .updateTable('packages')
      .set({ visibility: 'private' })
      .where('name', '=', '@acme/grid')
      .execute()
    expect(await similarTo('@acme/maze')).toBeNull()
  })
})
