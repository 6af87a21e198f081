import type { AccountCode } from './rules/chart-of-accounts.ts'
import type { LedgerAccount } from './rules/decide-transfers.ts'

/** An account of the ledger with its sums, in minor units. `ownerId` is null for the platform's. */
export type Account = LedgerAccount & { ownerId: string | null; code: AccountCode }

/** A row as `accountColumns` of the queries here give it: sums as text, for they may be beyond what a number holds. */
export type AccountRow = {
  id: string
  owner_id: string | null
  code: AccountCode
  currency: string
  debits_must_not_exceed_credits: boolean
  credits_must_not_exceed_debits: boolean
  hot: boolean
  debits_posted: string
  credits_posted: string
  debits_pending: string
  credits_pending: string
}

export function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    ownerId: row.owner_id,
    code: row.code,
    currency: row.currency,
    debitsMustNotExceedCredits: row.debits_must_not_exceed_credits,
    creditsMustNotExceedDebits: row.credits_must_not_exceed_debits,
    hot: row.hot,
    debitsPosted: BigInt(row.debits_posted),
    creditsPosted: BigInt(row.credits_posted),
    debitsPending: BigInt(row.debits_pending),
    creditsPending: BigInt(row.credits_pending),
  }
}

/** What can be taken out of an account now: what came in less what went out or is held. Below zero where it owes. */
export function availableMinor({ creditsPosted, debitsPosted, debitsPending }: Account): bigint {
  return creditsPosted - debitsPosted - debitsPending
}
