import { describeOnEngines, postgresql } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { listed } from '../catalog/testing/listed.ts'
import { loadPackages } from '../catalog/testing/load-packages.ts'
import { DownloadCounter, deleteOldDownloads } from './downloads.ts'

describeOnEngines('downloads on $kind', ({ kind, create }) => {
  let database: Database
  let services: TestServices
  let replica: TestServices
  let other: Database

  beforeAll(async () => {
    const address = await create()
    database = await openDatabase(address)
    // A folder takes one process, and one opening of it: there the replica is a second counter on the same database.
    other = kind === 'pglite' ? database : await openDatabase(address)
    services = await testServices(database)
    replica = await testServices(other, { secret: services.config.secret })
  })
  afterAll(async () => {
    await services.remove()
    await replica.remove()
    if (other !== database) await other.close()
    await database.close()
  })

  const versionOf = async (name: string) => {
    await loadPackages(database, [listed(name)])
    const row = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select('versions.id')
      .where('packages.name', '=', name)
      .executeTakeFirstOrThrow()
    return row.id
  }
  const counts = async (versionId: string) => {
    const row = await database.query
      .selectFrom('versions')
      .innerJoin('packages', 'packages.id', 'versions.package_id')
      .select(['versions.downloads as version', 'packages.downloads as package'])
      .where('versions.id', '=', versionId)
      .executeTakeFirstOrThrow()
    return [row.version, row.package]
  }
  const npm = { ip: '192.0.2.1', userAgent: 'npm/10.9.0 node/v24.1.0 linux x64' }

  it('of one client in a loop count once', async () => {
    const versionId = await versionOf('@acme/loop')
    for (let round = 0; round < 1000; round++) {
      services.downloads.record({ versionId, ...npm, userAgent: `npm/10.9.${round} node/v24.1.0` })
      if (round % 250 === 0) await services.downloads.flush()
    }
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([1, 1])
  })

  it('of several clients count each', async () => {
    const versionId = await versionOf('@acme/several')
    for (let host = 1; host <= 20; host++) services.downloads.record({ versionId, ...npm, ip: `192.0.2.${host}` })
    services.downloads.record({ versionId, ...npm, userAgent: 'pnpm/12.4.2 npm/? node/v24.1.0' })
    services.downloads.record({ versionId, ...npm, userAgent: '' })
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([22, 22])
  })

  it('of one IPv6 network count once', async () => {
    const versionId = await versionOf('@acme/six')
    for (const ip of ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::9', '2001:db8:0:1::1'])
      services.downloads.record({ versionId, ...npm, ip })
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([2, 2])
  })

  it('through two replicas count each client once', async () => {
    const ids = await Promise.all(['@acme/one', '@acme/two', '@acme/three'].map(versionOf))
    for (let host = 1; host <= 30; host++)
      for (const [at, replicaServices] of [services, replica].entries())
        for (const versionId of at === 0 ? ids : ids.toReversed())
          replicaServices.downloads.record({ versionId, ...npm, ip: `198.51.100.${host}` })
    await Promise.all([services.downloads.flush(), replica.downloads.flush()])
    for (const id of ids) expect(await counts(id)).toEqual([30, 30])
  })

  it('record known users of a package, once each', async () => {
    const versionId = await versionOf('@acme/used')
    const { id: accountId } = await database.query
      .insertInto('accounts')
      .values({ kind: 'user', username: 'user-of-it', username_canonical: 'user0f1t', email: 'user@example.com' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const embeddedWorker = '00000000-0000-0000-0000-000000000000'
    for (const who of [accountId, accountId, undefined, null, embeddedWorker])
      services.downloads.record({ versionId, ...npm, accountId: who })
    await services.downloads.flush()
    replica.downloads.record({ versionId, ...npm, ip: '192.0.2.99', accountId })
    await replica.downloads.flush()
    expect(await counts(versionId)).toEqual([2, 2])
    const users = await database.query
      .selectFrom('package_users')
      .innerJoin('packages', 'packages.id', 'package_users.package_id')
      .select('account_id')
      .where('packages.name', '=', '@acme/used')
      .execute()
    expect(users).toEqual([{ account_id: accountId }])
  })

  it("of the package's own members do not count", async () => {
    const versionId = await versionOf('@acme/own')
    const { owner_id: accountId } = await database.query
      .selectFrom('packages')
      .select('owner_id')
      .where('name', '=', '@acme/own')
      .executeTakeFirstOrThrow()
    services.downloads.record({ versionId, ...npm, accountId })
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([0, 0])
    services.downloads.record({ versionId, ...npm })
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([1, 1])
  })

  it('of missing versions are ignored', async () => {
    const versionId = await versionOf('@acme/real')
    services.downloads.record({ versionId: '00000000-0000-0000-0000-000000000000', ...npm })
    services.downloads.record({ versionId, ...npm })
    await services.downloads.flush()
    expect(await counts(versionId)).toEqual([1, 1])
    expect(services.logged.filter(({ level }) => level !== 'info')).toEqual([])
  })

  it('store no IP address; rows are deleted, counters kept', async () => {
    const { rows } = await sql<{ client: string }>`select distinct client from downloads`.execute(database.query)
    for (const { client } of rows) expect(client).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const before = await database.query.selectFrom('packages').select(['name', 'downloads']).orderBy('name').execute()
    await deleteOldDownloads(database.query, 1)
    expect((await sql`select 1 from downloads`.execute(database.query)).rows.length).toBeGreaterThan(0)
    await sql`update downloads set day = day - 91`.execute(database.query)
    await deleteOldDownloads(database.query, 90)
    expect((await sql`select 1 from downloads`.execute(database.query)).rows).toEqual([])
    expect(await database.query.selectFrom('packages').select(['name', 'downloads']).orderBy('name').execute()).toEqual(
      before,
    )
  })
})

describe('downloads during a database outage', () => {
  it('are counted afterwards', async () => {
    const database = await postgresql.open()
    const services = await testServices(database)
    await loadPackages(database, [listed('@acme/patient')])
    const { id } = await database.query.selectFrom('versions').select('id').executeTakeFirstOrThrow()
    let away = true
    const flaky: Database = {
      ...database,
      transaction: (work) => (away ? Promise.reject(new Error('away')) : database.transaction(work)),
    }
    const downloads = new DownloadCounter({ ...services, database: flaky })
    downloads.record({ versionId: id, ip: '192.0.2.7', userAgent: 'npm/10' })
    await downloads.flush()
    expect(services.logged.map(({ level }) => level)).toEqual(['warn'])
    away = false
    await downloads.flush()
    const counted = await database.query.selectFrom('packages').select('downloads').executeTakeFirstOrThrow()
    expect(counted.downloads).toBe(1)
    await database.close()
    await services.remove()
  })
})
