export { isClientFile, writePublishedTarball } from './published-files.ts'
export {
  collectTarballFiles,
  readTarballFiles,
  type TarballFile,
  type TarballLimits,
  type TarballPart,
} from './read-tarball-files.ts'
export { shownPath, tarballFailure } from './tarball-failure.ts'
export { type PackedFile, type WrittenTarball, writeTarball } from './write-tarball.ts'
