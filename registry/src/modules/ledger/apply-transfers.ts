import assert from 'node:assert'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { TransactionConflict } from '../../core/database/transactions.ts'
import { isUuid, uuidArray } from '../../core/database/uuid-array.ts'
import { type AccountRow, accountOf } from './accounts.ts'
import { decideTransfers, type LedgerAccount, type LedgerState } from './rules/decide-transfers.ts'
import type { RecordedTransfer, Transfer, TransferResult } from './rules/transfer.ts'

/**
 * Makes transfers in order, each only once however often it is requested; `decideTransfers` decides their outcomes. A
 * refused chain changes nothing and the transaction can continue; callers that want all or nothing throw. Accounts stay
 * locked until the transaction ends, except hot ones. Locks are taken in the order of account IDs.
 *
 * Two round trips, one more to resolve pending transfers, and one or two more for refusals.
 * @throws TransactionConflict if a concurrent transaction made one of these transfers.
 */
export async function applyTransfers(
  query: Transaction<Schema>,
  transfers: readonly Transfer[],
): Promise<TransferResult[]> {
  if (transfers.length === 0) return []
  for (const { reference } of transfers) assert(reference === undefined || isUuid(reference), `${reference} is no uuid`)
  let loaded = await load(query, transfers)
  let decision = decideTransfers(loaded.state, transfers, loaded.at)
  if (decision.results.some(({ outcome }) => outcome === 'refused')) {
    // The transfers may have been read before the locks were granted, and this very transfer may have been made
    // meanwhile and used up the funds. A second read under the locks is final.
    loaded = await load(query, transfers)
    decision = decideTransfers(loaded.state, transfers, loaded.at)
  }
  if (decision.created.length > 0) await insert(query, decision.created, loaded.at)
  return decision.results
}

async function load(query: Queries, transfers: readonly Transfer[]): Promise<{ state: LedgerState; at: Date }> {
  const pendingIds = new Set<string>()
  const accountIds = new Set<string>()
  for (const transfer of transfers) {
    if ('pendingId' in transfer) pendingIds.add(transfer.pendingId)
    else accountIds.add(transfer.debitAccountId).add(transfer.creditAccountId)
  }
  // A pending transfer never changes, so its accounts can be read before they are locked.
  if (pendingIds.size > 0) for (const id of await accountsOfPendings(query, pendingIds)) accountIds.add(id)
  const ids = new Set([...transfers.map(({ id }) => id), ...pendingIds])
  const { rows } = await sql<Loaded>`
    with locked as materialized (
      select ${accountColumns} from ledger_accounts
      where id = any(${uuidArray(accountIds)}) and not hot order by id for no key update
    )
    select
      (select json_agg(locked) from locked) as accounts,
      (select json_agg(account) from (
        select ${accountColumns} from ledger_accounts where id = any(${uuidArray(accountIds)}) and hot) account) as hot,
      (select json_agg(transfer) from (
        select ${transferColumns} from ledger_transfers where id = any(${uuidArray(ids)})) transfer) as transfers,
      (select json_agg(pending_id) from ledger_transfers where pending_id = any(${uuidArray(pendingIds)})) as resolved,
      clock_timestamp()::timestamptz(3) as at`.execute(query)
  return { state: stateOf(rows[0]), at: rows[0].at }
}

type TransferRow = {
  id: string
  kind: Transfer['kind']
  debit_account_id: string
  credit_account_id: string
  amount: string
  currency: string
  pending_id: string | null
  code: string
  reference: string | null
  expires_at: string | null
}

type Loaded = {
  accounts: AccountRow[] | null
  hot: AccountRow[] | null
  transfers: TransferRow[] | null
  resolved: string[] | null
  at: Date
}

// Amounts and sums are text, because JSON numbers would lose precision.
const accountColumns = sql`id, owner_id, code, currency, hot, debits_must_not_exceed_credits, credits_must_not_exceed_debits,
  debits_posted::text, credits_posted::text, debits_pending::text, credits_pending::text`
const transferColumns = sql`id, kind, debit_account_id, credit_account_id, amount::text, currency, pending_id, code,
  reference, expires_at`

function stateOf({ accounts, hot, transfers, resolved }: Loaded): LedgerState {
  const known: LedgerAccount[] = [...(accounts ?? []), ...(hot ?? [])].map(accountOf)
  return {
    accounts: new Map(known.map((account) => [account.id, account])),
    transfers: new Map((transfers ?? []).map((row) => [row.id, transferOf(row)])),
    resolved: new Set(resolved),
  }
}

function transferOf(row: TransferRow): RecordedTransfer {
  return {
    ...{ id: row.id, kind: row.kind },
    ...{ debitAccountId: row.debit_account_id, creditAccountId: row.credit_account_id },
    ...{ amountMinor: BigInt(row.amount), currency: row.currency },
    ...{ pendingId: row.pending_id, code: row.code, reference: row.reference },
    expiresAt: row.expires_at === null ? null : new Date(row.expires_at),
  }
}

async function accountsOfPendings(query: Queries, pendingIds: Iterable<string>): Promise<string[]> {
  const { rows } = await sql<{ debit: string; credit: string }>`
    select debit_account_id as debit, credit_account_id as credit from ledger_transfers
    where id = any(${uuidArray(pendingIds)})`.execute(query)
  return rows.flatMap(({ debit, credit }) => [debit, credit])
}

/** A trigger updates the sums of the accounts. */
async function insert(query: Queries, created: RecordedTransfer[], at: Date): Promise<void> {
  const records = created.map((transfer, ordinal) => ({
    ...{ ordinal, id: transfer.id, kind: transfer.kind },
    ...{ debit_account_id: transfer.debitAccountId, credit_account_id: transfer.creditAccountId },
    ...{ amount: String(transfer.amountMinor), currency: transfer.currency },
    ...{ pending_id: transfer.pendingId, code: transfer.code, reference: transfer.reference },
    expires_at: transfer.expiresAt,
  }))
  const { rows: inserted } = await sql`
    insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, pending_id, code,
      reference, expires_at, created_at)
    select id, kind, debit_account_id, credit_account_id, amount, currency, pending_id, code, reference, expires_at,
      ${at.toISOString()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(records)}::text::jsonb) as created(ordinal integer, id uuid, kind text,
      debit_account_id uuid, credit_account_id uuid, amount bigint, currency text, pending_id uuid, code text,
      reference uuid, expires_at timestamptz)
    order by ordinal on conflict do nothing returning 1`.execute(query)
  if (inserted.length < created.length)
    throw new TransactionConflict('a transfer with the same id was made at the same moment')
}
