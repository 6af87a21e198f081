/** What the benchmark of the catalogue needs of this package's inside: databases to fill, and what to fill them with. */

export { markdownHtml } from './catalog/markdown-html.ts'
export { keepReadmeHtml } from './catalog/readme-html.store.ts'
export { loadPackages } from './catalog/testing/load-packages.ts'
export { type SyntheticPackage, syntheticPackages, syntheticQueries } from './catalog/testing/synthetic-packages.ts'
export type { Database } from './database/database.ts'
export { openDatabase } from './database/open-database.ts'
export { startPostgresql, stopPostgresql } from './testing/postgresql-server.ts'
