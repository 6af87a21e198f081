import assert from 'node:assert'
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'
import type { Schema } from './schema.ts'
import { sqlState } from './violated-constraint.ts'

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

/**
 * Tracks whether the running code was called from within a transaction of one database. A query that bypasses its own
 * transaction would deadlock on PGlite (which has one connection) and would not be part of the transaction on
 * PostgreSQL. It is a bug on both, so it is an assertion on both.
 */
export class TransactionScope {
  readonly #scopes = new AsyncLocalStorage<{ open: boolean }>()

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const scope = { open: true }
    try {
      return await this.#scopes.run(scope, work)
    } finally {
      // Work that the transaction started without awaiting may query again once it is over.
      scope.open = false
    }
  }

  assertOutside(): void {
    assert(
      !this.#scopes.getStore()?.open,
      'a query inside of a transaction must use the transaction it was given: `database.transaction((query) => …)`',
    )
  }
}

/**
 * Thrown by the work of a transaction that lost a race with a concurrent one: `database.transaction` rolls back and
 * runs the work again, which then sees the other one's changes.
 */
export class TransactionConflict extends Error {}

/** serialization_failure, deadlock_detected: PostgreSQL has rolled the transaction back and expects a retry. */
const retriedStates = new Set(['40001', '40P01'])
const attempts = 10

/** Runs a transaction until it no longer conflicts with another one, with a random, growing delay in between. */
async function retryTransaction<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      const conflicts = error instanceof TransactionConflict || retriedStates.has(sqlState(error) ?? '')
      if (attempt === attempts || !conflicts) throw error
      await delay(Math.random() * Math.min(5 * 2 ** attempt, 500))
    }
  }
}
