import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import { applyTransfers } from './apply-transfers.ts'
import type { Resolution } from './rules/transfer.ts'

/** Transfers that one transaction voids: it holds their accounts until it ends. */
const voidedAtOnce = 50

/** Frees what pending transfers hold that have expired. Gives how many there were. */
export async function expireTransfers(database: Database): Promise<number> {
  for (let voided = 0; ; ) {
    const voids = await expired(database)
    // One that somebody else has ended meanwhile is refused, and that is well.
    const results = await database.transaction((query) => applyTransfers(query, voids))
    const made = results.filter(({ outcome }) => outcome === 'created').length
    voided += made
    // Where nothing comes of it, the next run of upkeep is soon enough.
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
