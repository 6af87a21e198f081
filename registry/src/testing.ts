/** Internals for tests of other packages: a server with published packages. */

export { openDatabase } from './core/database/open-database.ts'
export { backgroundSettled } from './core/scheduled-tasks/scheduled-tasks.ts'
export { listed } from './modules/catalog/testing/listed.ts'
export { loadPackages } from './modules/catalog/testing/load-packages.ts'
