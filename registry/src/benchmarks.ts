/** Internals of this package for the benchmarks of catalog and market: databases, and the data to fill them. */

export { backUp } from './app/operating/back-up.ts'
export { openBackupFolder } from './app/operating/backup-folder.ts'
export { restore } from './app/operating/restore.ts'
export type { Database } from './core/database/database.ts'
export { openDatabase } from './core/database/open-database.ts'
export { JobQueue } from './core/queue/job-queue.ts'
export { openObjectStore } from './core/storage/open-object-store.ts'
export { createToken } from './modules/accounts/tokens.store.ts'
export { loadPackages } from './modules/catalog/testing/load-packages.ts'
export { loadPictures, syntheticAgentManifest } from './modules/catalog/testing/load-pictures.ts'
export {
  type SyntheticPackage,
  syntheticPackages,
  syntheticQueries,
} from './modules/catalog/testing/synthetic-packages.ts'
export { applyTransfers, auditLedger, foldHotAccounts, openAccounts, splitSale } from './modules/ledger/index.ts'
export { insertOwners } from './modules/ledger/testing/insert-owners.ts'
export { auditMarket } from './modules/orders/index.ts'
export { openBenchMarket } from './modules/orders/testing/bench-market.ts'
export { keepReadmeHtml, markdownHtml } from './modules/packages/index.ts'
