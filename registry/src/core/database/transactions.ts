import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import { retryTransaction } from './retry-transaction.ts'
import type { Schema } from './schema.ts'
import type { TransactionScope } from './transaction-scope.ts'

/** `transaction` and `lock` of a Database, the same on both engines. */
export function createTransactions(
  query: Kysely<Schema>,
  scope: TransactionScope,
): Pick<Database, 'transaction' | 'lock'> {
  return {
    transaction: (work) =>
      retryTransaction(() =>
        query
          .transaction()
          .setIsolationLevel('read committed')
          .execute((transaction) => scope.run(() => work(transaction))),
      ),
    lock: async (transaction, name) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction)
    },
  }
}
