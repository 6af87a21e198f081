import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertOwners } from '../../modules/ledger/testing/insert-owners.ts'
import { codeOf } from '../../modules/orders/testing/marketplace.ts'
import type { Database } from '../database/database.ts'
import { deleteOldKeys, type IdempotentRequest, withIdempotencyKey } from './idempotency.ts'

describeOnEngines('idempotency keys on $kind', ({ open }) => {
  let database: Database
  let actorId: string
  let other: string
  beforeAll(async () => {
    database = await open()
    ;[actorId, other] = await insertOwners(database, 2)
  })
  afterAll(() => database.close())

  let done = 0
  const take = (change: Partial<IdempotentRequest> = {}, work: () => Promise<number> = async () => ++done) => {
    const keyed = { actorId, key: 'key', action: 'test.do', request: { amount: 1 }, ...change }
    return database.transaction((query) =>
      withIdempotencyKey(query, keyed, async () => ({ status: 201, answer: { z: await work(), a: { b: [1] } } })),
    )
  }

  it('runs the work once and repeats its response exactly', async () => {
    const key = randomUUID()
    const before = done
    const first = await take({ key })
    const again = await take({ key })
    expect(done).toBe(before + 1)
    expect(first).toEqual({ status: 201, answer: { z: done, a: { b: [1] } }, repeated: false })
    expect(JSON.stringify(again)).toBe(JSON.stringify({ ...first, repeated: true }))
    // The order of fields does not matter, and undefined fields are omitted.
    const request = { to: 'me', amount: 1 }
    const ordered = { amount: 1, to: 'me', note: undefined }
    const named = randomUUID()
    await take({ key: named, request })
    expect((await take({ key: named, request: ordered })).repeated).toBe(true)
  })

  it('refuses a different request or action with the same key, per actor', async () => {
    const key = randomUUID()
    await take({ key })
    expect(await codeOf(take({ key, request: { amount: 2 } }))).toBe('idempotency_key_reused')
    expect(await codeOf(take({ key, action: 'test.undo' }))).toBe('idempotency_key_reused')
    expect((await take({ key, actorId: other })).repeated).toBe(false)
  })

  it('stores nothing for a failure, which may be retried', async () => {
    const key = randomUUID()
    await expect(take({ key }, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect((await take({ key })).repeated).toBe(false)
  })

  it('concurrent requests wait for the first, and run if it fails', async () => {
    const key = randomUUID()
    const before = done
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => take({ key })))
    expect(done).toBe(before + 1)
    expect(all.filter(({ repeated }) => !repeated)).toHaveLength(1)
    const failing = randomUUID()
    let failed = 0
    const flaky = async () => {
      if (failed++ === 0) throw new Error('first')
      return 7
    }
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => take({ key: failing }, flaky)))
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(failed).toBe(2)
  })

  it('deletes keys after 30 days, and not before', async () => {
    const [old, young] = [randomUUID(), randomUUID()]
    for (const key of [old, young]) await take({ key })
    const age = (key: string, days: number) =>
      sql`update idempotency_keys set created_at = now() - ${days} * interval '1 day' where key = ${key}`.execute(
        database.query,
      )
    await age(old, 31)
    await age(young, 29)
    await deleteOldKeys({ database })
    expect((await take({ key: young })).repeated).toBe(true)
    expect((await take({ key: old })).repeated).toBe(false)
  })
})
