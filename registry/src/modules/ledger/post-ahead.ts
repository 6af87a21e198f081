import { sql, type Transaction } from 'kysely'
import { ahead, sendAhead } from '../../core/database/flights.ts'
import { prepared } from '../../core/database/prepared-statements.ts'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import { violatedConstraint } from '../../core/database/violated-constraint.ts'
import { askedTransfers } from './asked-transfers.ts'
import type { Movement } from './rules/transfer.ts'

/**
 * Makes transfers that nobody can have made before, all of them or none, in one flight with the next statement of the
 * transaction. Nothing is read and decided here: limits, currencies and ids are held by the database, which refuses the
 * transaction (`isRefusedAhead`); `applyTransfers` then says what the matter is. The accounts are held as by `applyTransfers`, in
 * the order of their ids, and before the transfers get their positions.
 */
export async function postAhead(query: Transaction<Schema>, movements: readonly Movement[]): Promise<void> {
  const ids = movements.flatMap(({ debitAccountId, creditAccountId }) => [debitAccountId, creditAccountId])
  const statement = sql`${prepared}${ahead}
    with locked as materialized (
      select id from ledger_accounts where id = any(${uuidArray(new Set(ids))}) and not hot order by id for no key update
    ), held as materialized (
      select count(*), clock_timestamp()::timestamptz(3) as at from locked
    )
    insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, code, reference, expires_at,
      created_at)
    select id, kind, debit_account_id, credit_account_id, amount, currency, code, reference, expires_at, held.at
    from held, ${askedTransfers(movements)}
    order by ordinal`.compile(query)
  await sendAhead(query, statement)
}

/** Whether a transaction failed for what `postAhead` leaves to the database: funds, limits, a transfer that is there. */
export function isRefusedAhead(error: unknown): boolean {
  return refusals.has(violatedConstraint(error) ?? '')
}

const refusals = new Set(['ledger_accounts_debits_limit', 'ledger_accounts_credits_limit', 'ledger_transfers_pkey'])
