import { type RawBuilder, sql } from 'kysely'
import type { RecordedTransfer } from './rules/transfer.ts'

type Asked = Omit<RecordedTransfer, 'pendingId' | 'reference' | 'expiresAt'> & {
  pendingId?: string | null
  reference?: string | null
  expiresAt?: Date | null
}

/** Transfers as a table `asked` with the columns of `ledger_transfers`, and `ordinal`: their place in the list. */
export function askedTransfers(transfers: readonly Asked[]): RawBuilder<unknown> {
  const rows = transfers.map((transfer, ordinal) => ({
    ...{ ordinal, id: transfer.id, kind: transfer.kind },
    ...{ debit_account_id: transfer.debitAccountId, credit_account_id: transfer.creditAccountId },
    ...{ amount: String(transfer.amountMinor), currency: transfer.currency },
    ...{ pending_id: transfer.pendingId, code: transfer.code, reference: transfer.reference },
    expires_at: transfer.expiresAt,
  }))
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as asked(ordinal integer, id uuid, kind text,
    debit_account_id uuid, credit_account_id uuid, amount bigint, currency text, pending_id uuid, code text,
    reference uuid, expires_at timestamptz)`
}
