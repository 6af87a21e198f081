import { inflateGzip } from './inflate-gzip.ts'
import type { TarForm } from './pax-header.ts'
import { readTar } from './read-tar.ts'
import { tarballFailure } from './tarball-failure.ts'
import { TarballPaths, vetTarballPath } from './tarball-path.ts'

/** Bounds of reading one tarball. `ratio`: unpacked to packed bytes. `files` counts folders too. */
export type TarballLimits = {
  tarballBytes: number
  unpackedBytes: number
  files: number
  ratio: number
  /** Default: two minutes. */
  deadlineMs?: number
}

/** A regular file below `package/`, by its path there. */
export type TarballFile = { path: string; size: number }

/** What `readTarballFiles` yields: a file, then its bytes in pieces until the next one. */
export type TarballPart = { file: TarballFile } | { bytes: Buffer }

/** Small archives of text pack very well: below this the ratio says nothing. */
const ratioFreeBytes = 1024 * 1024
const defaultDeadlineMs = 120_000

/**
 * Reads the files of a package's tarball as a stream that stops at its limits: one chunk is in memory at a time, whatever
 * the archive unpacks to. The only reader of tarballs: registry, worker and CLI see the same files or none. Throws the
 * codes `tarball_…`.
 */
export async function* readTarballFiles(
  bytes: Uint8Array,
  limits: TarballLimits,
  form: TarForm,
): AsyncGenerator<TarballPart> {
  if (bytes.length > limits.tarballBytes)
    throw tooLarge('tarball_too_large', `The tarball has ${bytes.length} bytes`, limits.tarballBytes)
  const paths = new TarballPaths()
  let entries = 0
  for await (const part of readTar(limitUnpacked(inflateGzip(bytes), bytes.length, limits), form)) {
    if ('bytes' in part) {
      yield part
      continue
    }
    if (++entries > limits.files) {
      const message = `The tarball contains more than ${limits.files} files and folders.`
      const hint = 'List the files to publish under `files` in package.json.'
      throw tarballFailure('tarball_too_many_files', message, { limit: limits.files }, hint)
    }
    const { type, size } = part.entry
    const path = vetTarballPath(part.entry.path, type)
    if (path === '') continue
    paths.add(path, type)
    if (type === 'file') yield { file: { path, size } }
  }
}

async function* limitUnpacked(
  pieces: AsyncIterable<Buffer>,
  packed: number,
  { unpackedBytes, ratio, deadlineMs = defaultDeadlineMs }: TarballLimits,
): AsyncGenerator<Buffer> {
  const started = performance.now()
  let unpacked = 0
  for await (const piece of pieces) {
    unpacked += piece.length
    if (unpacked > unpackedBytes)
      throw tooLarge('tarball_unpacked_too_large', 'The files unpack to more', unpackedBytes)
    if (unpacked > ratioFreeBytes && unpacked > packed * ratio) {
      const message = `The tarball unpacks to more than ${ratio} times its size.`
      throw tarballFailure('tarball_ratio_too_high', message, { limit: ratio }, 'Omit highly repetitive files.')
    }
    if (performance.now() - started > deadlineMs)
      throw tarballFailure(
        'request_timeout',
        `Reading the tarball took longer than ${deadlineMs / 1000} s.`,
        { limit_ms: deadlineMs },
        'Try again when the machine is less busy.',
      )
    yield piece
  }
}

function tooLarge(code: 'tarball_too_large' | 'tarball_unpacked_too_large', what: string, limit: number): Error {
  const hint = 'Exclude large data with `files` in package.json.'
  return tarballFailure(code, `${what}; the limit is ${limit} bytes.`, { limit }, hint)
}

/**
 * The bytes of the files that are wanted: `wanted` says how many bytes a path may have at most, undefined if it is not
 * needed. Reads the whole archive, so that what follows the last wanted file is checked, too. Throws the codes
 * `tarball_…`.
 */
export async function collectTarballFiles(
  bytes: Uint8Array,
  limits: TarballLimits,
  form: TarForm,
  wanted: (path: string) => number | undefined,
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer[]>()
  let pieces: Buffer[] | undefined
  for await (const part of readTarballFiles(bytes, limits, form)) {
    if ('bytes' in part) {
      pieces?.push(part.bytes)
      continue
    }
    const { path, size } = part.file
    const limit = wanted(path)
    if (limit !== undefined && size > limit)
      throw tooLarge('tarball_unpacked_too_large', `${path} has ${size} bytes`, limit)
    pieces = limit === undefined ? undefined : []
    if (pieces !== undefined) found.set(path, pieces)
  }
  return new Map([...found].map(([path, parts]) => [path, Buffer.concat(parts)]))
}
