/** Finding packages, and the page of one. */
export { catalogModule } from './catalog.module.ts'
export { searchPackages } from './search-packages.ts'
