/** Search index of packages, and parsing of queries. */
export { anyWord, indexPackage, qualityInput, refreshSolved, type SearchQuery, searchQuery } from './index-package.ts'
export { manifestFacts, packageQuality } from './package-quality.ts'
