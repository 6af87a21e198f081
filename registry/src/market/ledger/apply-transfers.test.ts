import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { testDatabases } from '../../testing/test-databases.ts'
import type { Movement, Transfer } from '../rules/transfer.ts'
import { availableMinor } from './account.ts'
import { openAccounts, readAccounts } from './accounts.store.ts'
import { applyTransfers } from './apply-transfers.ts'
import { insertOwners } from './testing/insert-owners.ts'

const currency = 'EUR'

describe.each(await testDatabases())('transfers on $kind', ({ open }) => {
  let database: Database
  let buyer: string
  let seller: string
  let fees: string
  let provider: string
  beforeAll(async () => {
    database = await open()
    const [one, two] = await insertOwners(database, 2)
    ;[buyer, seller, fees, provider] = await database.transaction((query) =>
      openAccounts(query, [
        { owner: one, code: 'balance', currency },
        { owner: two, code: 'earnings', currency },
        { owner: null, code: 'fees', currency },
        { owner: null, code: 'provider', currency },
      ]),
    )
  })
  afterAll(() => database.close())

  const apply = (...transfers: Transfer[]) => database.transaction((query) => applyTransfers(query, transfers))
  const move = (
    debitAccountId: string,
    creditAccountId: string,
    amountMinor: bigint,
    more: Partial<Movement> = {},
  ) => ({
    ...{ id: randomUUID(), kind: 'posted' as const, currency, code: 'sale' },
    ...{ debitAccountId, creditAccountId, amountMinor, ...more },
  })
  const available = async (id: string) => {
    const account = (await readAccounts(database.query, [id])).get(id)
    return account && availableMinor(account)
  }

  it('moves money, once an id', async () => {
    const topUp = move(provider, buyer, 1_000n, { reference: randomUUID() })
    expect(await apply(topUp)).toEqual([{ id: topUp.id, outcome: 'created' }])
    expect(await apply(topUp)).toEqual([{ id: topUp.id, outcome: 'exists' }])
    expect(await apply({ ...topUp, amountMinor: 1_001n })).toEqual([
      { id: topUp.id, outcome: 'refused', reason: 'id_taken' },
    ])
    expect(await available(buyer)).toBe(1_000n)
    expect(await available(provider)).toBe(-1_000n)
    const sale = [move(buyer, seller, 900n, { linked: true }), move(buyer, fees, 100n)]
    expect((await apply(...sale)).map(({ outcome }) => outcome)).toEqual(['created', 'created'])
    expect((await apply(...sale)).map(({ outcome }) => outcome)).toEqual(['exists', 'exists'])
    expect([await available(buyer), await available(seller), await available(fees)]).toEqual([0n, 900n, 100n])
  })

  it('holds, posts a part and frees the rest', async () => {
    await apply(move(provider, buyer, 500n))
    const hold = move(buyer, seller, 400n, { kind: 'pending', expiresAt: new Date(Date.now() + 3_600_000) })
    await apply(hold)
    expect(await available(buyer)).toBe(100n)
    const post: Transfer = { id: randomUUID(), kind: 'post', pendingId: hold.id, amountMinor: 250n, code: 'run' }
    expect(await apply(post)).toEqual([{ id: post.id, outcome: 'created' }])
    expect(await apply(post)).toEqual([{ id: post.id, outcome: 'exists' }])
    const late: Transfer = { id: randomUUID(), kind: 'void', pendingId: hold.id, code: 'run' }
    expect(await apply(late)).toEqual([{ id: late.id, outcome: 'refused', reason: 'pending_resolved' }])
    expect(await available(buyer)).toBe(250n)
  })
})
