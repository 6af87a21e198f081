import { createHash, type Hash } from 'node:crypto'
import { readTarballFiles, type TarballLimits } from '@agentgym/contract/tarball'

/** A file of a version. `text`: null for binary files, and for what is too large to show. */
export type VersionFile = { path: string; size: number; hash: string; text: string | null }

/** Larger texts are in the tarball only, and so are those after the first megabytes. */
const limits = { characters: 512 * 1024, ofVersion: 8 * 1024 * 1024 }

/** The files of a tarball, with the texts that its pages show. Keeps only these in memory. Throws the codes `tarball_…`. */
export async function readVersionFiles(bytes: Uint8Array, tarballLimits: TarballLimits): Promise<VersionFile[]> {
  const files: VersionFile[] = []
  let room = limits.ofVersion
  let open: { path: string; size: number; hash: Hash; pieces: Buffer[] | null } | undefined
  const finish = () => {
    if (open === undefined) return
    const { path, size, hash, pieces } = open
    const text = pieces === null ? null : textOf(Buffer.concat(pieces))
    if (text !== null) room -= size
    files.push({ path, size, hash: hash.digest('hex'), text })
  }
  for await (const part of readTarballFiles(bytes, tarballLimits, 'stored')) {
    if ('file' in part) {
      finish()
      const { path, size } = part.file
      const pieces = size <= Math.min(limits.characters, room) ? [] : null
      open = { path, size, hash: createHash('sha256'), pieces }
    } else {
      open?.hash.update(part.bytes)
      open?.pieces?.push(Buffer.from(part.bytes))
    }
  }
  finish()
  return files
}

/** Null if it is not UTF-8, or contains NUL, which PostgreSQL does not allow in text. */
function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
