import { randomUUID } from 'node:crypto'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import {
  availableMinor,
  lockAccounts,
  openAccount,
  openAccounts,
  readAccounts,
  readOwnersAccounts,
} from './accounts.ts'
import { applyTransfers } from './apply-transfers.ts'
import { auditLedger } from './audit-ledger.ts'
import { ledgerModule } from './ledger.tasks.ts'
import { maxAmountMinor } from './rules/amounts.ts'
import type { AccountCode } from './rules/chart-of-accounts.ts'
import type { Movement, Transfer } from './rules/transfer.ts'
import { insertOwners } from './testing/insert-owners.ts'

const currency = 'EUR'

describeOnEngines('transfers on $kind', ({ open }) => {
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

  it('moves money once per ID', async () => {
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

  it('holds, posts a part and releases the rest', async () => {
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
  it('keeps sums beyond the safe integer range exact', async () => {
    const before = await available(buyer)
    for (let index = 0; index < 12; index++)
      await apply(move(provider, buyer, maxAmountMinor - 1n, { reference: randomUUID() }))
    const large = 12n * (maxAmountMinor - 1n)
    expect(large).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER))
    expect(await available(buyer)).toBe((before ?? 0n) + large)
    const held = await database.transaction((query) => lockAccounts(query, [buyer]))
    expect(held.get(buyer)).toEqual((await readAccounts(database.query, [buyer])).get(buyer))
    expect(await auditLedger(database)).toEqual([])
    await apply(move(buyer, provider, maxAmountMinor))
    expect(await available(buyer)).toBe((before ?? 0n) + large - maxAmountMinor)
  })

  it('a refusal does not affect the rest of the transaction', async () => {
    const kept = move(provider, buyer, 1n)
    const outcomes = await database.transaction(async (query) => {
      const refused = await applyTransfers(query, [move(seller, buyer, maxAmountMinor)])
      const made = await applyTransfers(query, [kept])
      return [...refused, ...made].map((result) => (result.outcome === 'refused' ? result.reason : result.outcome))
    })
    expect(outcomes).toEqual(['insufficient_funds', 'created'])
    expect((await apply(kept)).map(({ outcome }) => outcome)).toEqual(['exists'])
  })

  it('throws for invalid IDs and owners', async () => {
    await expect(apply(move(provider, buyer, 1n, { id: 'order-1' }))).rejects.toThrow('no uuid')
    await expect(apply(move(provider, buyer, 1n, { id: randomUUID().toUpperCase() }))).rejects.toThrow('no uuid')
    await expect(apply(move(provider, buyer, 1n, { reference: 'order-1' }))).rejects.toThrow('no uuid')
    const open = (owner: string | null, code: AccountCode, of = currency) =>
      database.transaction((query) => openAccount(query, { owner, code, currency: of }))
    await expect(open(null, 'balance')).rejects.toThrow('has an owner')
    await expect(open(randomUUID(), 'fees')).rejects.toThrow('has no owner')
    await expect(open(null, 'fees', 'euro')).rejects.toThrow('no currency')
  })
})

describeOnEngines('scheduled tasks of the ledger on $kind', ({ open }) => {
  it('folds hot accounts and releases expired holds', async () => {
    const database = await open()
    const [owner] = await insertOwners(database, 1)
    const [balance, fees, provider] = await database.transaction((query) =>
      openAccounts(query, [
        { owner, code: 'balance', currency },
        { owner: null, code: 'fees', currency },
        { owner: null, code: 'provider', currency },
      ]),
    )
    const reference = randomUUID()
    const hold = (amountMinor: bigint, expiresAt?: Date): Movement => ({
      ...{ id: randomUUID(), kind: 'pending', debitAccountId: balance, creditAccountId: fees, amountMinor, currency },
      ...{ code: 'run', reference, ...(expiresAt && { expiresAt }) },
    })
    const holds = Array.from({ length: 60 }, () => hold(1n, new Date(0)))
    const later = [hold(2n, new Date(Date.now() + 3_600_000)), hold(3n)]
    const topUp = { ...hold(1_000n), kind: 'posted' as const, debitAccountId: provider, creditAccountId: balance }
    await database.transaction((query) => applyTransfers(query, [topUp, ...holds, ...later]))
    for (const { run } of ledgerModule({ database }).tasks ?? []) await run()
    const accounts = await readOwnersAccounts(database.query, owner)
    expect(accounts.map(availableMinor)).toEqual([995n])
    const platform = await readOwnersAccounts(database.query, null)
    expect(platform.map(({ code, creditsPending, debitsPosted }) => [code, creditsPending, debitsPosted])).toEqual([
      ['fees', 5n, 0n],
      ['provider', 0n, 1_000n],
    ])
    const voids = await database.query
      .selectFrom('ledger_transfers')
      .where('kind', '=', 'void')
      .select('reference')
      .execute()
    expect(voids).toHaveLength(60)
    expect(new Set(voids.map((row) => row.reference))).toEqual(new Set([reference]))
    // What came in by the second task is folded by the next run.
    for (const { run } of ledgerModule({ database }).tasks ?? []) await run()
    expect(await database.query.selectFrom('ledger_hot_entries').selectAll().execute()).toEqual([])
    expect(await readOwnersAccounts(database.query, null)).toEqual(platform)
    expect(await auditLedger(database)).toEqual([])
    await database.close()
  })
})
