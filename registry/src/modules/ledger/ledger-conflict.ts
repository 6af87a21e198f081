/**
 * Somebody else has just made a transfer with the same id, or ended the same pending one. The code is that of PostgreSQL's
 * own serialization failures, so that `database.transaction` runs its work again: by then it sees what was made.
 */
export class LedgerConflict extends Error {
  readonly code = '40001'

  constructor() {
    super('the transfer is being made by somebody else: the transaction must be run again')
  }
}
