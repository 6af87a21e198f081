/** Search index of packages, and parsing of queries. */
export { indexPackage, qualityInput, type SearchQuery, searchQuery } from './index-package.ts'
export { manifestFacts, packageQuality } from './package-quality.ts'
