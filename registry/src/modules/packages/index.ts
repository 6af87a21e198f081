/** Packages: from upload to installation. */
export { sourceOfArrival } from './arrivals.ts'
export { type Change, deleteTag, deprecateVersions, setTag } from './change-versions.ts'
export { checkJobs, decideVersion } from './check-jobs.ts'
export { describeVersion, versionDetails } from './describe-versions.ts'
export { markdownHtml } from './documents/markdown-html.ts'
export { keepReadmeHtml, readmeHtmlOf, rendering, unrendered } from './documents/version-documents.store.ts'
export { isNamed, namedObjects } from './named-objects.ts'
export { builtInName, findablePackageName, type PackageName, parsePackageName } from './package-name.ts'
export { openPackageServices, type PackageServices } from './package-services.ts'
export { usageDays } from './package-usage.ts'
export { packagesModule } from './packages.module.ts'
export {
  belongsTo,
  findPackage,
  findReadablePackage,
  findReadableVersion,
  isTakenDownFor,
  keepLearningCurve,
  keepSampleEpisode,
  lockObject,
  lockPackage,
  type PackageRow,
  type ReadablePackage,
  readSampleEpisode,
  sampleEpisodeOf,
  tagsOf,
  type VersionRow,
  versionNotFound,
} from './packages.store.ts'
export { openTarball, packumentOf } from './packument.ts'
export {
  authorizeScope,
  createVersion,
  type PublishedVersion,
  publishRate,
  publishVersion,
  requireRoomFor,
  type VettedPackage,
  vetPackage,
} from './publish-version.ts'
export { readTarball } from './read-tarball.ts'
export { renameTarball } from './rename-tarball.ts'
export { type Candidate, chooseVersion, selectVersion } from './resolve-version.ts'
export { parseVersion } from './vet-manifest.ts'
