import { sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Makes a transaction, before its first query, a read of one state of the database, however long it takes: audits and
 * backups read everything, which the time limits of requests do not allow for.
 */
export async function readSnapshot(query: Transaction<Schema>): Promise<void> {
  await sql`set transaction isolation level repeatable read, read only`.execute(query)
  await sql`set local statement_timeout = 0`.execute(query)
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(query)
}
