/** Indexing packages, and cutting queries into words. */
export { indexPackage, qualityInput, type SearchQuery, searchQuery } from './index-package.ts'
export { manifestFacts, packageQuality } from './package-quality.ts'
