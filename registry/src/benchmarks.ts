/** What the benchmark of the catalogue needs of this package's inside: databases to fill, and what to fill them with. */
export { loadPackages } from './catalog/testing/load-packages.ts'
export { type SyntheticPackage, syntheticPackages, syntheticQueries } from './catalog/testing/synthetic-packages.ts'
export { openDatabase } from './database/open-database.ts'
export { startPostgresql, stopPostgresql } from './testing/postgresql-server.ts'
