/** Ledger accounts and the transfers between them. */
export {
  type Account,
  availableMinor,
  lockAccounts,
  openAccount,
  openAccounts,
  readAccounts,
  readOwnersAccounts,
} from './accounts.ts'
export { applyTransfers } from './apply-transfers.ts'
export { auditLedger } from './audit-ledger.ts'
export { foldHotAccounts, ledgerModule } from './ledger.tasks.ts'
export { meteredAmount, type SaleParts, splitRefund, splitSale } from './rules/amounts.ts'
export { type Movement, type Transfer, type TransferResult, transferId } from './rules/transfer.ts'
