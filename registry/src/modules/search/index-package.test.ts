import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { refreshQuality } from '../catalog/catalog.tasks.ts'
import { searchAll } from '../catalog/testing/search-all.ts'
import { deprecateVersions, yankVersion } from '../packages/change-versions.ts'
import { createActor, publish } from '../packages/testing/publishing.ts'

describeOnEngines('the index on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let name: string

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ada = await createActor(database)
    name = `@${ada.username}/maze`
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  const row = () =>
    database.query
      .selectFrom('packages')
      .select(['title', 'keywords', 'quality', 'latest_version', 'updated_at'])
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
  const scenario = (title: string) => ({
    agentgym: {
      kind: 'scenario',
      entry: 'src/index.ts',
      title,
      summary: 'One',
      category: 'games',
      difficulty: 'expert',
    },
  })

  it('follows the latest version: text of older ones finds nothing', async () => {
    await publish(services, ada, '1.0.0', { manifest: { ...scenario('Firstword'), keywords: ['a', 'a', 'b'] } })
    expect(await row()).toMatchObject({ title: 'Firstword', keywords: ['a', 'b'], latest_version: '1.0.0' })
    expect(await searchAll(database, { q: 'firstword' })).toEqual([name])
    await publish(services, ada, '2.0.0', { manifest: scenario('Secondword') })
    expect(await searchAll(database, { q: 'firstword' })).toEqual([])
    expect(await searchAll(database, { q: 'secondword', category: 'games' })).toEqual([name])
  })

  it('does not follow prereleases and backports', async () => {
    await publish(services, ada, '3.0.0-rc.1', { manifest: scenario('Thirdword') })
    await publish(services, ada, '1.0.1', { manifest: scenario('Backword') })
    expect(await row()).toMatchObject({ title: 'Secondword', latest_version: '2.0.0' })
    expect(await searchAll(database, { q: 'thirdword' })).toEqual([])
  })

  it('reverts with a yank, and leaves lists without a version', async () => {
    const change = { actor: ada, name, ip: null }
    await yankVersion(services, change, '2.0.0')
    expect(await row()).toMatchObject({ title: 'Backword', latest_version: '1.0.1' })
    expect(await searchAll(database, { q: 'backword' })).toEqual([name])
    await yankVersion(services, change, '1.0.1')
    await yankVersion(services, change, '1.0.0')
    expect((await row()).latest_version).toBeNull()
    expect(await searchAll(database, { q: 'backword' })).toEqual([])
    expect(await searchAll(database, {})).toEqual([])
    await publish(services, ada, '4.0.0', { manifest: scenario('Fourthword') })
    expect(await searchAll(database, {})).toEqual([name])
  })

  it('updates the score over time and on deprecation, without a new version', async () => {
    const fresh = await row()
    await refreshQuality(database.query, new Date())
    expect(await row()).toEqual(fresh)
    await refreshQuality(database.query, new Date(Date.now() + 300 * 86_400_000))
    expect(await row()).toEqual({ ...fresh, quality: fresh.quality - 3 })
    await refreshQuality(database.query, new Date(), AbortSignal.abort())
    expect((await row()).quality).toBe(fresh.quality - 3)
    const change = { actor: ada, name, ip: null }
    await deprecateVersions(services, change, new Map([['4.0.0', 'Use another']]))
    expect(await row()).toEqual({ ...fresh, quality: fresh.quality - 10 })
    await deprecateVersions(services, change, new Map([['4.0.0', '']]))
    expect(await row()).toEqual(fresh)
  })
})
