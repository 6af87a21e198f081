import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { integrityOf } from '@agentgym/client'
import { pack } from 'tar-stream'

export type PackedFile = { path: string; bytes: Uint8Array }

export type PackedTarball = {
  bytes: Uint8Array<ArrayBuffer>
  /** `sha512-…` (base64), as npm's lockfiles hold it. */
  integrity: string
}

/** The moment that npm writes for every file. */
const npmEpoch = new Date('1985-10-26T08:15:00.000Z')
const fileMode = 0o644
/** Offset of the operating system in gzip's header, and "unknown" there. */
const gzipSystem = { offset: 9, unknown: 255 }

/** Packs files below `package/`, in the given order. The same files give the same bytes, on every machine and day. */
export async function writeTarball(files: readonly PackedFile[]): Promise<PackedTarball> {
  const archive = pack()
  const whole = buffer(archive)
  for (const { path, bytes } of files) {
    archive.entry({ name: `package/${path}`, mtime: npmEpoch, mode: fileMode, type: 'file' }, Buffer.from(bytes))
  }
  archive.finalize()
  const bytes = Uint8Array.from(await promisify(gzip)(await whole, { level: 9 }))
  bytes[gzipSystem.offset] = gzipSystem.unknown
  return { bytes, integrity: await integrityOf(bytes) }
}
