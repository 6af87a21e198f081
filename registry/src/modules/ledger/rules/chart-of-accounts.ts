/** Whether an account may be overdrawn, either way; whether so many transfers touch it that its row would be a queue. */
export type AccountLimits = {
  debitsMustNotExceedCredits: boolean
  creditsMustNotExceedDebits: boolean
  hot: boolean
}

const unlimited: AccountLimits = { debitsMustNotExceedCredits: false, creditsMustNotExceedDebits: false, hot: false }
const holds: AccountLimits = { ...unlimited, debitsMustNotExceedCredits: true }
const owes: AccountLimits = { ...unlimited, creditsMustNotExceedDebits: true }
const hot: AccountLimits = { ...unlimited, hot: true }

/** Of every user and organisation, one a currency; opened when first needed. */
const ownerAccounts = {
  /** What a buyer can spend: credited by top-ups, debited by purchases. */
  balance: holds,
  /** What a seller or the author of a scenario has earned: credited by sales, debited by refunds and payouts. */
  earnings: holds,
  /** What a seller owes after a chargeback beyond the earnings: debited by it, credited when it is repaid. */
  debt: owes,
}

/** Of the marketplace itself, one a currency. */
const platformAccounts = {
  /** Credited by the platform's part of every sale. */
  fees: hot,
  /** Money that lies at the payment provider: debited by what comes in, credited by what goes out. */
  provider: hot,
  /** Clearing: what is on its way to sellers. Returns to zero. */
  payouts: unlimited,
  /** Chargebacks that the platform bears. */
  losses: hot,
}

export type OwnerCode = keyof typeof ownerAccounts
export type PlatformCode = keyof typeof platformAccounts
export type AccountCode = OwnerCode | PlatformCode

/** The database holds accounts to the same (`ledger_accounts_chart_check`). */
export const chartOfAccounts: Record<AccountCode, AccountLimits & { owned: boolean }> = {
  balance: { ...ownerAccounts.balance, owned: true },
  earnings: { ...ownerAccounts.earnings, owned: true },
  debt: { ...ownerAccounts.debt, owned: true },
  fees: { ...platformAccounts.fees, owned: false },
  provider: { ...platformAccounts.provider, owned: false },
  payouts: { ...platformAccounts.payouts, owned: false },
  losses: { ...platformAccounts.losses, owned: false },
}
