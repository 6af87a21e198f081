import { inflateGzip } from './inflate-gzip.ts'
import { readTar } from './read-tar.ts'

/**
 * Bytes of these files, by their paths below `package/`, out of a tarball that `readTarball` has read before. Stops reading
 * once it has them all.
 */
export async function readTarFiles(tarball: Uint8Array, paths: ReadonlySet<string>): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer[]>()
  let left = 0
  let pieces: Buffer[] | undefined
  for await (const part of readTar(inflateGzip(tarball))) {
    if ('bytes' in part) {
      pieces?.push(part.bytes)
      left -= part.bytes.length
    } else {
      const path = part.entry.path.replace(/^package\//, '')
      pieces = part.entry.type === 'file' && paths.has(path) ? [] : undefined
      if (pieces !== undefined) found.set(path, pieces)
      left = part.entry.size
    }
    if (left <= 0 && found.size === paths.size) break
  }
  return new Map([...found].map(([path, parts]) => [path, Buffer.concat(parts)]))
}
