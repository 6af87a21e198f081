import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { parseManifest } from './parse-manifest.ts'
import { inflateGzip, readTar } from './read-tar.ts'

const manifestPath = 'package/package.json'
/** The moment that npm writes for every file. */
const npmEpoch = new Date('1985-10-26T08:15:00.000Z')
const fileMode = 0o644
/** Offset of the operating system in gzip's header, and "unknown" there. */
const gzipSystem = { offset: 9, unknown: 255 }

/**
 * The same package under another name and version: its files unchanged and in their order, except for those two fields
 * of package.json. The same input gives the same bytes. `bytes` must have passed `readTarball`, which enforces the
 * limits; otherwise throws the codes `tarball_…` and `package_manifest_…`.
 */
export async function renameTarball(
  bytes: Uint8Array,
  { name, version }: { name: string; version: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const archive = pack()
  const whole = buffer(archive)
  for (const { path, body } of await readFiles(bytes)) {
    const named = path === manifestPath ? Buffer.from(renamed(body, { name, version })) : body
    archive.entry({ name: path, mtime: npmEpoch, mode: fileMode, type: 'file' }, named)
  }
  archive.finalize()
  const packed = Uint8Array.from(await promisify(gzip)(await whole, { level: 9 }))
  packed[gzipSystem.offset] = gzipSystem.unknown
  return packed
}

async function readFiles(bytes: Uint8Array): Promise<{ path: string; body: Buffer }[]> {
  const files: { path: string; pieces: Buffer[] }[] = []
  let pieces: Buffer[] = []
  for await (const part of readTar(inflateGzip(bytes))) {
    if ('bytes' in part) pieces.push(part.bytes)
    else {
      pieces = []
      if (part.entry.type === 'file') files.push({ path: part.entry.path, pieces })
    }
  }
  return files.map(({ path, pieces: parts }) => ({ path, body: Buffer.concat(parts) }))
}

function renamed(manifest: Buffer, identity: { name: string; version: string }): string {
  return `${JSON.stringify({ ...parseManifest(manifest), ...identity }, null, 2)}\n`
}
