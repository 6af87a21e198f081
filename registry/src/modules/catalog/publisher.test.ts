import { describeOnEngines } from '@agentgym/testkit/databases'
import { testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { createActor } from '../packages/testing/publishing.ts'
import { describePublisher } from './publisher.ts'
import { listed } from './testing/listed.ts'
import { loadPackages } from './testing/load-packages.ts'

describeOnEngines('a publisher on $kind', ({ open }) => {
  let database: Database
  let services: Services
  let owner: Actor
  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    owner = await createActor(database)
    await loadPackages(database, [
      listed(`@${owner.username}/open`),
      listed(`@${owner.username}/hidden`, { visibility: 'private' }),
      listed('@lab/other'),
    ])
  })
  afterAll(() => database.close())

  const names = async (actor: Actor | null, username = owner.username) =>
    (await describePublisher(services, actor, username)).packages.map(({ name }) => name.split('/')[1]).sort()

  it('shows public packages to everyone, and private ones to members', async () => {
    expect(await names(null)).toEqual(['open'])
    expect(await names(await createActor(database))).toEqual(['open'])
    expect(await names(owner)).toEqual(['hidden', 'open'])
    expect(await names({ ...owner, scopes: new Set(['training:view']) })).toEqual(['open'])
    const countsFor = async (actor: Actor | null) => (await describePublisher(services, actor, owner.username)).counts
    expect(await countsFor(null)).toEqual({ scenarios: 1, agents: 0, downloads: 0 })
    expect(await countsFor(owner)).toEqual({ scenarios: 2, agents: 0, downloads: 0 })
  })

  it('is found in any casing, with its display name', async () => {
    const found = await describePublisher(services, null, owner.username.toUpperCase())
    expect(found).toMatchObject({ username: owner.username, kind: 'user', display_name: null })
    expect(await names(null, 'lab')).toEqual(['other'])
  })

  it('is not found for an unknown name or a disabled account', async () => {
    const missing = { code: 'account_not_found' }
    await expect(describePublisher(services, null, 'no-such-account')).rejects.toMatchObject(missing)
    await expect(describePublisher(services, null, '\u0000')).rejects.toMatchObject(missing)
    const gone = await createActor(database)
    await database.query
      .updateTable('accounts')
      .set({ disabled_at: new Date() })
      .where('id', '=', gone.accountId)
      .execute()
    await expect(describePublisher(services, null, gone.username)).rejects.toMatchObject(missing)
  })
})
