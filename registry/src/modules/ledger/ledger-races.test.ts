import { randomInt, randomUUID } from 'node:crypto'
import { openPatiently } from '@agentgym/testkit/databases'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { type Account, availableMinor, lockAccounts, openAccounts, readAccounts } from './accounts.ts'
import { applyTransfers } from './apply-transfers.ts'
import { auditLedger } from './audit-ledger.ts'
import { expireTransfers, foldHotAccounts } from './ledger.tasks.ts'
import type { Movement, Resolution, Transfer, TransferResult } from './rules/transfer.ts'
import { insertOwners } from './testing/insert-owners.ts'

/** On PostgreSQL alone: PGlite has one connection, where nothing happens at once. Two replicas, each with its pool. */
let databases: Database[]
let balances: string[]
let fees: string
let provider: string
const currency = 'EUR'
const people = 8

beforeAll(async () => {
  const url = await createPostgresqlDatabase()
  databases = [await openPatiently({ url }), await openPatiently({ url })]
  const owners = await insertOwners(databases[0], people)
  ;[fees, provider, ...balances] = await databases[0].transaction((query) =>
    openAccounts(query, [
      { owner: null, code: 'fees', currency },
      { owner: null, code: 'provider', currency },
      ...owners.map((owner) => ({ owner, code: 'balance' as const, currency })),
    ]),
  )
})
afterEach(async () => expect(await auditLedger(databases[0])).toEqual([]))
afterAll(async () => {
  for (const database of databases) await database.close()
})

const any = () => databases[randomInt(databases.length)]
const apply = (...transfers: Transfer[]) => any().transaction((query) => applyTransfers(query, transfers))
const move = (debitAccountId: string, creditAccountId: string, amountMinor: bigint, more: Partial<Movement> = {}) => ({
  ...{ id: randomUUID(), kind: 'posted' as const, currency, code: 'sale' },
  ...{ debitAccountId, creditAccountId, amountMinor, ...more },
})
const ending = (kind: 'post' | 'void', pendingId: string): Resolution => ({
  ...{ id: randomUUID(), kind, pendingId, code: 'sale' },
})
const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
const reported = (results: TransferResult[]) =>
  results.map((result) => (result.outcome === 'refused' ? result.reason : result.outcome))
const count = (outcomes: string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
const account = async (id: string): Promise<Account> => {
  const found = (await readAccounts(any().query, [id])).get(id)
  expect(found).toBeDefined()
  return found as Account
}
const available = async (id: string) => availableMinor(await account(id))
/** Resets all balances, so that each test starts with its own amounts. */
const empty = async (id: string) => {
  const left = await available(id)
  if (left > 0n) await apply(move(id, provider, left))
}

it('100 concurrent debits with funds for one: one is made', async () => {
  await empty(balances[0])
  await apply(move(provider, balances[0], 10n))
  const outcomes = await times(100, () => apply(move(balances[0], fees, 10n)))
  expect(count(outcomes.flatMap(reported))).toEqual({ created: 1, insufficient_funds: 99 })
  expect(await available(balances[0])).toBe(0n)
})

it('concurrent opposite transfers do not deadlock', async () => {
  const [one, two] = balances
  await apply(move(provider, one, 100n), move(provider, two, 100n))
  const before = [await available(one), await available(two)]
  const outcomes = await times(200, (index) => apply(index % 2 === 0 ? move(one, two, 1n) : move(two, one, 1n)))
  expect(count(outcomes.flatMap(reported))).toEqual({ created: 200 })
  expect([await available(one), await available(two)]).toEqual(before)
})

it('the same transfer requested 100 times concurrently is made once', async () => {
  const topUp = move(provider, balances[0], 7n)
  const before = await available(balances[0])
  expect(count((await times(100, () => apply(topUp))).flatMap(reported))).toEqual({ created: 1, exists: 99 })
  expect(await available(balances[0])).toBe(before + 7n)
})

it('the same between hot accounts, which are not locked', async () => {
  const given = move(provider, fees, 7n)
  const before = await available(fees)
  expect(count((await times(100, () => apply(given))).flatMap(reported))).toEqual({ created: 1, exists: 99 })
  expect(await available(fees)).toBe(before + 7n)
})

it('one ID for 50 concurrent transfers on different accounts: one is made', async () => {
  const id = randomUUID()
  const outcomes = await times(50, (index) =>
    apply(move(provider, balances[index % people], BigInt(index + 1), { id })),
  )
  expect(count(outcomes.flatMap(reported))).toEqual({ created: 1, id_taken: 49 })
})

it('a chain requested 50 times concurrently is made once, completely', async () => {
  await apply(move(provider, balances[0], 100n))
  const before = await available(balances[0])
  const chain = [
    move(balances[0], balances[1], 60n, { linked: true }),
    move(balances[0], fees, 30n, { linked: true }),
    move(balances[0], balances[2], 10n),
  ]
  const outcomes = (await times(50, () => apply(...chain))).map((results) => reported(results).join())
  expect(count(outcomes)).toEqual({ 'created,created,created': 1, 'exists,exists,exists': 49 })
  expect(await available(balances[0])).toBe(before - 100n)
})

it('makes a transfer once if it is requested many times with funds for one, without reporting insufficient funds', async () => {
  for (let round = 0; round < 4; round++) {
    await empty(balances[0])
    await apply(move(provider, balances[0], 10n))
    const sale = [move(balances[0], balances[1], 9n, { linked: true }), move(balances[0], fees, 1n)]
    const outcomes = (await times(20, () => apply(...sale))).map((results) => reported(results).join())
    expect(count(outcomes)).toEqual({ 'created,created': 1, 'exists,exists': 19 })
    const hold = move(balances[1], fees, await available(balances[1]), { kind: 'pending' })
    expect(count((await times(20, () => apply(hold))).flatMap(reported))).toEqual({ created: 1, exists: 19 })
    const post = ending('post', hold.id)
    expect(count((await times(20, () => apply(post))).flatMap(reported))).toEqual({ created: 1, exists: 19 })
  }
})

it('a hold posted and voided concurrently ends once', async () => {
  await apply(move(provider, balances[0], 40n))
  const hold = move(balances[0], fees, 40n, { kind: 'pending' })
  await apply(hold)
  const outcomes = await times(60, (index) => apply(ending(index % 2 === 0 ? 'post' : 'void', hold.id)))
  expect(count(outcomes.flatMap(reported))).toEqual({ created: 1, pending_resolved: 59 })
  expect(await account(balances[0])).toMatchObject({ debitsPending: 0n })
})

it('a hold between hot accounts resolved concurrently ends once', async () => {
  const hold = move(provider, fees, 40n, { kind: 'pending' })
  await apply(hold)
  const outcomes = await times(60, (index) => apply(ending(index % 2 === 0 ? 'post' : 'void', hold.id)))
  expect(count(outcomes.flatMap(reported))).toEqual({ created: 1, pending_resolved: 59 })
  await foldHotAccounts(any())
  expect(await account(fees)).toMatchObject({ creditsPending: 0n })
})

it('expired holds are released once across replicas, while others post', async () => {
  await apply(move(provider, balances[0], 500n))
  const before = await available(balances[0])
  const holds = Array.from({ length: 120 }, () =>
    move(balances[0], fees, 1n, { kind: 'pending', expiresAt: new Date(0) }),
  )
  await apply(...holds)
  const posts = times(20, (index) => apply(ending('post', holds[index].id)))
  const voids = times(20, (index) => apply(ending('void', holds[index].id)))
  const [expired, posted, voided] = await Promise.all([times(4, () => expireTransfers(any())), posts, voids])
  const outcomes = count(posted.flatMap(reported))
  expect((outcomes.pending_expired ?? 0) + (outcomes.pending_resolved ?? 0)).toBe(20)
  const byHand = count(voided.flatMap(reported)).created ?? 0
  expect(expired.reduce((sum, freed) => sum + freed, byHand)).toBe(120)
  expect(await available(balances[0])).toBe(before)
})

it('accounts opened concurrently are opened once', async () => {
  const [owner, other] = await insertOwners(databases[0], 2)
  const keys = [
    { owner, code: 'earnings' as const, currency },
    { owner: other, code: 'debt' as const, currency },
    { owner: null, code: 'losses' as const, currency: 'JPY' },
  ]
  const opened = await times(60, (index) =>
    any().transaction((query) => openAccounts(query, index % 2 === 0 ? keys : keys.toReversed())),
  )
  const ids = new Set(opened.flat())
  expect(ids.size).toBe(3)
  for (const [index, three] of opened.entries()) expect(index % 2 === 0 ? three : three.toReversed()).toEqual(opened[0])
})

it('locks accounts read for update', async () => {
  await empty(balances[0])
  await apply(move(provider, balances[0], 100n))
  const spendAll = () =>
    any().transaction(async (query) => {
      const held = (await lockAccounts(query, [balances[0], balances[1]])).get(balances[0])
      const left = held && availableMinor(held)
      if (!left) return 0n
      const [result] = await applyTransfers(query, [move(balances[0], balances[1], left)])
      expect(result.outcome).toBe('created')
      return left
    })
  const spent = await times(30, spendAll)
  expect(spent.filter((amount) => amount > 0n)).toEqual([100n])
})

it('does not wait for uncommitted credits of a hot account, also while folding', async () => {
  await apply(move(provider, balances[0], 5n), move(provider, balances[1], 5n))
  await foldHotAccounts(any())
  const before = await available(fees)
  const seen = await databases[0].transaction(async (query) => {
    await applyTransfers(query, [move(balances[0], fees, 5n)])
    // By the other replica, in the middle of this one's transaction: if anything waited here, it would wait for ever.
    const results = await databases[1].transaction((other) => applyTransfers(other, [move(balances[1], fees, 5n)]))
    expect(reported(results)).toEqual(['created'])
    await foldHotAccounts(databases[1])
    return (await readAccounts(databases[1].query, [fees])).get(fees)
  })
  expect(seen && availableMinor(seen)).toBe(before + 5n)
  expect(await available(fees)).toBe(before + 10n)
  await foldHotAccounts(any())
  expect(await available(fees)).toBe(before + 10n)
})

it('conserves money under concurrent transfers, folding, expiry and audits', async () => {
  for (const balance of balances) {
    await empty(balance)
    await apply(move(provider, balance, 50n))
  }
  const holds: string[] = []
  const person = () => balances[randomInt(people)]
  const act = async (): Promise<TransferResult[]> => {
    const [from, to, third] = [person(), person(), person()]
    const amount = BigInt(randomInt(1, 40))
    const turn = randomInt(6)
    if (turn === 0) {
      const hold = move(from, randomInt(2) === 0 ? to : fees, amount, {
        kind: 'pending',
        ...(randomInt(3) === 0 ? { expiresAt: new Date(Date.now() + randomInt(200)) } : {}),
      })
      holds.push(hold.id)
      return apply(hold)
    }
    if (turn === 1 && holds.length > 0)
      return apply(ending(randomInt(2) === 0 ? 'post' : 'void', holds[randomInt(holds.length)]))
    if (turn === 2) return apply(move(provider, from, amount, { linked: true }), move(from, to, amount))
    return apply(
      move(from, to, amount, { linked: true }),
      move(from, fees, 1n, { linked: true }),
      move(from, third, amount),
    )
  }
  const outcomes: string[] = []
  const actor = async () => {
    for (let turn = 0; turn < 60; turn++) outcomes.push(...reported(await act()))
  }
  let acting = true
  const upkeep = async () => {
    while (acting) {
      await foldHotAccounts(any())
      await expireTransfers(any())
      expect(await auditLedger(any())).toEqual([])
    }
  }
  const [one, two] = [upkeep(), upkeep()]
  await times(12, actor)
  acting = false
  await Promise.all([one, two])
  expect(outcomes).toContain('created')
  expect(outcomes).toContain('insufficient_funds')
  await foldHotAccounts(any())
  const { rows } = await databases[0].execute('select count(*)::int as entries from ledger_hot_entries')
  expect(rows).toEqual([{ entries: 0 }])
})
