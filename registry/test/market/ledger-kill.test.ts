// @module-tag full
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { runFolder } from '@agentgym/testkit/run-folder'
import { isLong } from '@agentgym/testkit/tier'
import { afterEach, expect, it } from 'vitest'
import type { Database } from '../../src/core/database/database.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { availableMinor, openAccounts, readAccounts } from '../../src/modules/ledger/accounts.ts'
import { applyTransfers } from '../../src/modules/ledger/apply-transfers.ts'
import { auditLedger } from '../../src/modules/ledger/audit-ledger.ts'
import { insertOwners } from '../../src/modules/ledger/testing/insert-owners.ts'
import { type Accounts, priceMinor, purchase } from './ledger-purchase.ts'

const writer = fileURLToPath(new URL('./ledger-writer.ts', import.meta.url))
const kills = isLong ? 50 : 2
const currency = 'EUR'

describeOnEngines('kill -9 during transfers on $kind', ({ create }) => {
  let running: ChildProcess | undefined
  afterEach(() => void running?.kill('SIGKILL'))

  async function openBooks(database: Database): Promise<Accounts> {
    const owners = await insertOwners(database, 8)
    const [fees, provider, ...rest] = await database.transaction((query) =>
      openAccounts(query, [
        { owner: null, code: 'fees', currency },
        { owner: null, code: 'provider', currency },
        ...owners.slice(0, 4).map((owner) => ({ owner, code: 'balance' as const, currency })),
        ...owners.slice(4).map((owner) => ({ owner, code: 'earnings' as const, currency })),
      ]),
    )
    return { fees, provider, buyers: rest.slice(0, 4), sellers: rest.slice(4), currency }
  }

  it(
    'acknowledged purchases survive, all are atomic, and repeated ones are made once',
    async () => {
      const folder = await mkdtemp(join(runFolder(), 'ledger-kill-'))
      const [intended, acknowledged] = ['intended', 'acknowledged'].map((name) => join(folder, name))
      const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
      const address = await create()
      let database = await openDatabase(address)
      const accounts = await openBooks(database)
      for (let round = 1; round <= kills; round++) {
        await database.close()
        const before = lines(acknowledged).length
        const parameters = [JSON.stringify(address), JSON.stringify(accounts), intended, acknowledged]
        running = fork(writer, parameters, { execArgv: [], stdio: 'inherit' })
        const ended = once(running, 'exit')
        while (lines(acknowledged).length <= before + 5) {
          expect(running.exitCode, 'it runs until it is killed').toBeNull()
          await delay(5)
        }
        await delay(Math.random() * 200)
        running.kill('SIGKILL')
        await ended
        database = await openDatabase(address)
        expect(await auditLedger(database)).toEqual([])
        await expectWhole(database, lines(acknowledged), lines(intended))
      }
      await askAgain(database, accounts, lines(intended))
      expect(await auditLedger(database)).toEqual([])
      await database.close()
    },
    120_000 + kills * 30_000,
  )
})

/** Five transfers a purchase or none, and those of every acknowledged one. */
async function expectWhole({ query }: Database, acknowledged: string[], intended: string[]): Promise<void> {
  const rows = await query
    .selectFrom('ledger_transfers')
    .select(({ fn }) => ['reference', fn.countAll<number>().as('transfers')])
    .groupBy('reference')
    .execute()
  expect(rows.filter(({ transfers }) => transfers !== 5)).toEqual([])
  const there = new Set(rows.map(({ reference }) => reference))
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([])
  const known = new Set<string | null>(intended)
  expect([...there].filter((id) => !known.has(id))).toEqual([])
}

/** Purchases with an unknown outcome are repeated; in the end each was made once. */
async function askAgain(database: Database, accounts: Accounts, intended: string[]): Promise<void> {
  for (const id of intended) {
    const results = await database.transaction((query) => applyTransfers(query, purchase(id, accounts)))
    expect(new Set(results.map(({ outcome }) => outcome)).size).toBe(1)
    expect(['created', 'exists']).toContain(results[0].outcome)
  }
  const all = [...accounts.buyers, ...accounts.sellers, accounts.fees, accounts.provider]
  const held = await readAccounts(database.query, all)
  const sum = (ids: string[]) =>
    ids.reduce((total, id) => {
      const account = held.get(id)
      return total + (account === undefined ? 0n : availableMinor(account))
    }, 0n)
  const purchases = BigInt(intended.length)
  expect(sum([accounts.provider])).toBe(-2n * priceMinor * purchases)
  expect(sum([accounts.fees])).toBe(10n * purchases)
  expect(sum(accounts.sellers)).toBe((priceMinor - 10n + priceMinor / 2n) * purchases)
  expect(sum(accounts.buyers)).toBe((priceMinor / 2n) * purchases)
}
