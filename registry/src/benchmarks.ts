/** What the benchmark of the catalogue measures, of this package's inside. */
export { loadPackages } from './catalog/testing/load-packages.ts'
export { syntheticPackages, syntheticQueries } from './catalog/testing/synthetic-packages.ts'
export type { Database } from './database/database.ts'
export { openDatabase } from './database/open-database.ts'
