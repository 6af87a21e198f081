/** What tests of other packages need of this one's inside: a served folder with packages in it. */

export { listed } from './catalog/testing/listed.ts'
export { loadPackages } from './catalog/testing/load-packages.ts'
export { openDatabase } from './database/open-database.ts'
export { dataFolder } from './server/testing/data-folder.ts'
