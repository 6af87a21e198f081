import type { PackedTarball } from '@agentgym/runtime/tarball'

/** A package as it goes to the registry. */
export type PackedPackage = PackedTarball & {
  name: string
  version: string
  files: { path: string; bytes: number }[]
  unpackedBytes: number
}
