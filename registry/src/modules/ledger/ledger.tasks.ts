import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import type { Module } from '../../core/module.ts'
import type { Services } from '../../core/services.ts'
import { applyTransfers } from './apply-transfers.ts'
import type { Resolution } from './rules/transfer.ts'

const secondMs = 1_000

export function ledgerModule({ database }: Pick<Services, 'database'>): Module {
  const tasks = [
    {
      name: 'market.fold-hot-accounts',
      everyMs: 10 * secondMs,
      run: async () => {
        await foldHotAccounts(database)
      },
    },
    {
      name: 'market.expire-transfers',
      everyMs: 10 * secondMs,
      run: async () => {
        await expireTransfers(database)
      },
    },
  ]
  return { routes: [], tasks }
}

/** Transfers voided in one transaction, which locks their accounts until it ends. */
const voidedAtOnce = 50

/** Voids expired pending transfers. Returns their number. */
export async function expireTransfers(database: Database): Promise<number> {
  for (let voided = 0; ; ) {
    const voids = await expired(database)
    // A transfer that was resolved meanwhile is refused, which is fine.
    const results = await database.transaction((query) => applyTransfers(query, voids))
    const made = results.filter(({ outcome }) => outcome === 'created').length
    voided += made
    // If none could be voided, the next scheduled run will retry.
    if (voids.length < voidedAtOnce || made === 0) return voided
  }
}

async function expired({ query }: Database): Promise<Resolution[]> {
  const rows = await query
    .selectFrom('ledger_open_pendings')
    .innerJoin('ledger_transfers', 'ledger_transfers.id', 'ledger_open_pendings.transfer_id')
    .where('ledger_open_pendings.expires_at', '<=', sql<Date>`now()`)
    .orderBy('ledger_open_pendings.expires_at')
    .limit(voidedAtOnce)
    .select(['transfer_id', 'reference'])
    .execute()
  return rows.map(({ transfer_id: pendingId, reference }) => ({
    ...{ id: randomUUID(), kind: 'void' as const, pendingId, code: 'expired' },
    ...(reference === null ? {} : { reference }),
  }))
}

/** Entries folded in one transaction, limited to keep locks short. */
const entriesAtOnce = 10_000

/**
 * Folds the entries of hot accounts into their rows so that reads stay cheap; balances do not change. Returns the
 * number of entries. A trigger adds an entry to the row when it is deleted, so none is lost or added twice.
 */
export async function foldHotAccounts(database: Database): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from ledger_accounts where hot
      and exists (select from ledger_hot_entries where account_id = ledger_accounts.id)`.execute(database.query)
  let folded = 0
  for (const { id } of rows) {
    for (let atOnce = entriesAtOnce; atOnce === entriesAtOnce; folded += atOnce) atOnce = await fold(database, id)
  }
  return folded
}

async function fold(database: Database, accountId: string): Promise<number> {
  return database.transaction(async (query) => {
    // One transaction at a time, so that the oldest come first: a hold always reaches the row before its end does.
    await sql`select from ledger_accounts where id = ${accountId} for no key update`.execute(query)
    const { rows } = await sql`
      delete from ledger_hot_entries where position in (
        select position from ledger_hot_entries where account_id = ${accountId} order by position limit ${entriesAtOnce}
      ) returning 1`.execute(query)
    return rows.length
  })
}
