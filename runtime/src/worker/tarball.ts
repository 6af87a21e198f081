import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { integrityOf } from '@agentgym/client'
import { AgentGymError } from '@agentgym/contract'
import { extract, pack } from 'tar-stream'

/** Of a path below `package/`, the most bytes that its file may have; undefined: the file is not wanted. */
export type WantedFile = (path: string) => number | undefined

export type TarballLimits = { unpackedBytes: number; entries: number }

const defaultLimits: TarballLimits = { unpackedBytes: 1024 * 2 ** 20, entries: 100_000 }

/**
 * Reads the wanted files of a published tarball, by their paths below `package/`. Links and directories are skipped, and
 * reading stops at the limits: the registry checks tarballs, but this does not rely on it. Throws `integrity_mismatch`.
 */
export async function readTarball(
  tarball: Uint8Array,
  wanted: WantedFile,
  limits: TarballLimits = defaultLimits,
): Promise<Map<string, Buffer>> {
  const archive = extract()
  const gunzip = createGunzip()
  gunzip.on('error', (error) => archive.destroy(error))
  gunzip.pipe(archive)
  gunzip.end(tarball)
  const found = new Map<string, Buffer>()
  let unpacked = 0
  let entries = 0
  try {
    for await (const entry of archive) {
      const file = entry.header.type === 'file' ? belowPackage(entry.header.name) : undefined
      const limit = file === undefined ? undefined : wanted(file)
      if (file !== undefined && found.has(file)) throw new Error(`it contains ${file} twice`)
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of entry as AsyncIterable<Buffer>) {
        unpacked += chunk.length
        size += chunk.length
        if (unpacked > limits.unpackedBytes) throw new Error(`it unpacks to more than ${limits.unpackedBytes} bytes`)
        if (limit === undefined) continue
        if (size > limit) throw new Error(`${file} is larger than ${limit} bytes`)
        chunks.push(chunk)
      }
      if (file !== undefined && limit !== undefined) found.set(file, Buffer.concat(chunks))
      entries += 1
      if (entries > limits.entries) throw new Error(`it has more than ${limits.entries} entries`)
    }
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error))
  } finally {
    gunzip.destroy()
  }
  return found
}

function belowPackage(name: string): string | undefined {
  return name.startsWith('package/') ? name.slice('package/'.length) : undefined
}

function unreadable(reason: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball cannot be unpacked: ${reason.slice(0, 300)}.`,
    hint: 'Tell the operator of the server: the registry should not have accepted it.',
  })
}

/** Files of a package by path, with the most bytes that each may have. */
export type WantedFiles = Record<string, number>

/** All that running a scenario needs. */
export const scenarioFiles: WantedFiles = { 'package.json': 2 ** 20, 'dist/scenario.js': 32 * 2 ** 20 }
/** All that running an agent needs. */
export const agentFiles: WantedFiles = { 'package.json': 2 ** 20, 'agent.json': 2 ** 20, 'model.onnx': 256 * 2 ** 20 }

/** Writes the wanted files of a tarball into an empty folder. Only paths in `files` are ever written to. */
export async function unpackPackage(
  tarball: Uint8Array,
  folder: string,
  files: WantedFiles,
  limits?: TarballLimits,
): Promise<void> {
  const wanted: WantedFile = (file) => (Object.hasOwn(files, file) ? files[file] : undefined)
  for (const [name, bytes] of await readTarball(tarball, wanted, limits)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, bytes)
  }
}

export type PackedFile = { path: string; bytes: Uint8Array }

export type PackedTarball = {
  bytes: Uint8Array<ArrayBuffer>
  /** `sha512-…` (base64), as in npm's lock files. */
  integrity: string
}

/** The modification time that npm gives every file. */
const npmEpoch = new Date('1985-10-26T08:15:00.000Z')
const fileMode = 0o644
/** Offset of the operating system in gzip's header, and the value for "unknown". */
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
