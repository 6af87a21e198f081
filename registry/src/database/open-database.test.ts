import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testDatabases } from '../testing/test-databases.ts'
import { testServices } from '../testing/test-services.ts'
import type { Database } from './database.ts'

describe.each(await testDatabases())('openDatabase on $kind', ({ kind, open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())

  it('opens', async () => {
    expect(database.kind).toBe(kind)
    expect(await database.query.selectFrom('accounts').selectAll().execute()).toEqual([])
    const s = await testServices(database)
    const key = await s.objects.put(Buffer.from('a'))
    expect(await s.objects.get(key)).toEqual(Buffer.from('a'))
  })
})
