/** Packages on this machine and how they come here: what the command and a program that loads agents share. */
export { agentGymHome } from './home.ts'
export {
  type Connection,
  type Credentials,
  clientOf,
  credentialsPath,
  defaultServer,
  findConnection,
  readCredentials,
} from './packages/connection.ts'
export {
  findLocked,
  installedPackages,
  type LockedFolder,
  type LockedPackage,
  lockFileName,
  lockPackage,
  readLock,
} from './packages/lock-file.ts'
export { findStored, storePackage } from './packages/package-store.ts'
export { type PackageTarget, parsePackageTarget } from './packages/package-target.ts'
export { readPackage } from './packages/read-package.ts'
export { readTarball, type WantedFile } from './packages/read-tarball.ts'
export { tarballUrl } from './packages/resolve-version.ts'
