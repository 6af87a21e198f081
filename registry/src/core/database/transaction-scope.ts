import assert from 'node:assert'
import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Knows whether the code that runs was called from within a transaction of one database. A query that goes past its own
 * transaction waits for ever on PGlite (there is one connection) and is not part of it on PostgreSQL: a bug on both, so it
 * is an assertion on both.
 */
export class TransactionScope {
  readonly #scopes = new AsyncLocalStorage<{ open: boolean }>()

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const scope = { open: true }
    try {
      return await this.#scopes.run(scope, work)
    } finally {
      // What the transaction started and did not wait for may query again once it is over.
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
