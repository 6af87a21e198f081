import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'

/** Entries that one transaction folds: so that it holds nothing for long. */
const entriesAtOnce = 10_000

/**
 * Brings what has happened on hot accounts into their rows, so that reading them stays cheap; what they hold does not change.
 * Gives how many entries there were. Deleting an entry is what adds it (a trigger), so none is lost or added twice.
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
    // One at a time, so that the oldest are taken first: what ends a hold never comes into the row before the hold.
    await sql`select from ledger_accounts where id = ${accountId} for no key update`.execute(query)
    const { rows } = await sql`
      delete from ledger_hot_entries where position in (
        select position from ledger_hot_entries where account_id = ${accountId} order by position limit ${entriesAtOnce}
      ) returning 1`.execute(query)
    return rows.length
  })
}
