/**
 * Whether an account may be overdrawn in either direction, and whether it is hot: changed by so many transfers that its
 * row would be a bottleneck.
 */
export type AccountLimits = {
  debitsMustNotExceedCredits: boolean
  creditsMustNotExceedDebits: boolean
  hot: boolean
}

const unlimited: AccountLimits = { debitsMustNotExceedCredits: false, creditsMustNotExceedDebits: false, hot: false }
const holds: AccountLimits = { ...unlimited, debitsMustNotExceedCredits: true }
const owes: AccountLimits = { ...unlimited, creditsMustNotExceedDebits: true }
const hot: AccountLimits = { ...unlimited, hot: true }

/** Accounts of every user and organization, one per currency; opened on first use. */
const ownerAccounts = {
  /** A buyer's balance: credited by top-ups, debited by purchases. */
  balance: holds,
  /** Earnings of a seller or scenario author: credited by sales, debited by refunds and payouts. */
  earnings: holds,
  /** A seller's debt after a chargeback beyond their earnings: debited by the chargeback, credited by repayments. */
  debt: owes,
}

/** Accounts of the marketplace itself, one per currency. */
const platformAccounts = {
  /** Credited with the platform's part of every sale. */
  fees: hot,
  /** Money at the payment provider: debited by incoming payments, credited by outgoing ones. */
  provider: hot,
  /** Clearing: money in transit to sellers. Returns to zero. */
  payouts: unlimited,
  /** Chargebacks borne by the platform. */
  losses: hot,
  /** Counterpart of holds whose parts are decided at settlement. Nothing is posted to it. */
  holds: hot,
}

export type OwnerCode = keyof typeof ownerAccounts
export type PlatformCode = keyof typeof platformAccounts
export type AccountCode = OwnerCode | PlatformCode

/** The database enforces the same limits (`ledger_accounts_chart_check`). */
export const chartOfAccounts: Record<AccountCode, AccountLimits & { owned: boolean }> = {
  balance: { ...ownerAccounts.balance, owned: true },
  earnings: { ...ownerAccounts.earnings, owned: true },
  debt: { ...ownerAccounts.debt, owned: true },
  fees: { ...platformAccounts.fees, owned: false },
  provider: { ...platformAccounts.provider, owned: false },
  payouts: { ...platformAccounts.payouts, owned: false },
  losses: { ...platformAccounts.losses, owned: false },
  holds: { ...platformAccounts.holds, owned: false },
}
