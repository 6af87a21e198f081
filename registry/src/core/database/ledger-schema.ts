import type { ColumnType, Generated } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type Kept = ColumnType<number, never, never>

/**
 * Sums of posted and pending transfers, maintained by triggers. Reading a sum above the safe integer range fails. Use
 * `readAccounts`: it returns bigint and adds the entries that are not in a hot account's row yet.
 */
export type LedgerAccountTable = {
  id: ColumnType<string, string | undefined, never>
  /** Null for the platform's accounts. */
  owner_id: Fixed<string | null>
  /** See `modules/ledger/rules/chart-of-accounts.ts`. */
  code: Fixed<string>
  currency: Fixed<string>
  debits_must_not_exceed_credits: Fixed<boolean>
  credits_must_not_exceed_debits: Fixed<boolean>
  hot: Fixed<boolean>
  debits_posted: Kept
  credits_posted: Kept
  debits_pending: Kept
  credits_pending: Kept
  created_at: ColumnType<Date, Date | undefined, never>
}

/** Append-only. Written only by `modules/ledger/apply-transfers.ts`. */
export type LedgerTransferTable = {
  /** Chosen by the caller before requesting the transfer. */
  id: Fixed<string>
  /** Increasing: of two transfers of an account that is not hot, the earlier one has the lower position. */
  position: Generated<number>
  kind: Fixed<'posted' | 'pending' | 'post' | 'void'>
  debit_account_id: Fixed<string>
  credit_account_id: Fixed<string>
  /** Minor units, 1 to 10^15. For a post: the posted part of the pending amount; the rest is released. */
  amount: Fixed<number>
  currency: Fixed<string>
  /** The pending transfer that a post or void ends. */
  pending_id: Fixed<string | null>
  /** Why: `sale`, `fee`, `payout` … */
  code: Fixed<string>
  /** The order, payment, payout … it belongs to. */
  reference: Fixed<string | null>
  expires_at: Fixed<Date | null>
  created_at: Fixed<Date>
}

/** Changes to hot accounts that are not folded into their rows yet. */
export type LedgerHotEntryTable = {
  position: Generated<number>
  account_id: Fixed<string>
  debits_posted: Kept
  credits_posted: Kept
  debits_pending: Kept
  credits_pending: Kept
}

/** Pending transfers that are neither posted nor voided. */
export type LedgerOpenPendingTable = { transfer_id: Fixed<string>; expires_at: Fixed<Date | null> }

export type LedgerSchema = {
  ledger_accounts: LedgerAccountTable
  ledger_transfers: LedgerTransferTable
  ledger_hot_entries: LedgerHotEntryTable
  ledger_open_pendings: LedgerOpenPendingTable
}
