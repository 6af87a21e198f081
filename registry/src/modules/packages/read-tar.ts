import { crc32, createInflateRaw } from 'node:zlib'
import { AgentGymError, type ErrorCode } from '@agentgym/contract'

export type TarEntry = { path: string; size: number; type: 'file' | 'directory' }

/** What `readTar` yields: an entry, then its bytes in pieces until the next one. */
type TarPart = { entry: TarEntry } | { bytes: Buffer }

const maxPaxBytes = 64 * 1024
/** GNU tar fills its last record of 10,240 bytes; more zeros than that mean nothing. */
const maxPadding = 64 * 1024

/**
 * Reads a tar archive in pieces, and checks every byte of it: whole blocks, zero padding, the two blocks of zeros at
 * the end, and only zeros after them. Buffers no more than one block, or one pax header.
 */
export async function* readTar(pieces: AsyncIterable<Buffer>): AsyncGenerator<TarPart> {
  const input = new BlockInput(pieces)
  try {
    yield* readEntries(input)
    await expectOnlyZeros(input)
  } finally {
    await input.close()
  }
}

async function* readEntries(input: BlockInput): AsyncGenerator<TarPart> {
  let paxPath: string | undefined
  let afterPax = false
  for (;;) {
    const block = await input.take(tarBlockSize)
    if (isZero(block)) break
    const header = decodeTarHeader(block)
    if (header.type === 'pax') {
      if (afterPax || header.size > maxPaxBytes)
        throw tarballFailure('tarball_entry_unsupported', 'The tarball has a pax header after another, or a huge one.')
      paxPath = decodePaxPath(await input.take(header.size))
      afterPax = true
    } else {
      yield { entry: { path: paxPath ?? header.path, size: header.size, type: header.type } }
      for (let left = header.size; left > 0; ) {
        const bytes = await input.takeSome(left)
        left -= bytes.length
        yield { bytes }
      }
      paxPath = undefined
      afterPax = false
    }
    if (!isZero(await input.take(-header.size & (tarBlockSize - 1)))) throw trailing()
  }
  if (afterPax) throw tarballFailure('tarball_corrupt', 'The tarball ends after a pax header.')
  if (!isZero(await input.take(tarBlockSize))) throw trailing()
}

async function expectOnlyZeros(input: BlockInput): Promise<void> {
  let length = 0
  for (;;) {
    const rest = await input.takeRest()
    if (rest === undefined) break
    length += rest.length
    if (!isZero(rest) || length > maxPadding) throw trailing()
  }
  if (length % tarBlockSize !== 0) throw trailing()
}

/** Reads a stream in chunks of the requested lengths. */
class BlockInput {
  readonly #pieces: AsyncIterator<Buffer>
  #piece: Buffer = Buffer.alloc(0)

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  async take(length: number): Promise<Buffer> {
    if (length <= this.#piece.length) return this.#cut(length)
    const parts: Buffer[] = []
    for (let left = length; left > 0; ) {
      const part = await this.takeSome(left)
      parts.push(part)
      left -= part.length
    }
    return Buffer.concat(parts, length)
  }

  /** At least one byte, at most `length`. */
  async takeSome(length: number): Promise<Buffer> {
    while (this.#piece.length === 0)
      if (!(await this.#next())) throw tarballFailure('tarball_truncated', 'The tar archive is truncated.')
    return this.#cut(Math.min(length, this.#piece.length))
  }

  async takeRest(): Promise<Buffer | undefined> {
    while (this.#piece.length === 0) if (!(await this.#next())) return undefined
    return this.#cut(this.#piece.length)
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  #cut(length: number): Buffer {
    const part = this.#piece.subarray(0, length)
    this.#piece = this.#piece.subarray(length)
    return part
  }

  async #next(): Promise<boolean> {
    const { done, value } = await this.#pieces.next()
    if (done === true) return false
    this.#piece = value
    return true
  }
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}

function trailing(): Error {
  return tarballFailure(
    'tarball_trailing_data',
    'Something other than zeros follows the end of a file or of the archive.',
  )
}

const tarBlockSize = 512

type TarHeader = {
  /** As the header has it, prefix applied; not vetted. */
  path: string
  size: number
  type: 'file' | 'directory' | 'pax'
}

const types: Record<string, TarHeader['type'] | 'link' | 'special'> = {
  '0': 'file',
  '\0': 'file',
  '5': 'directory',
  x: 'pax',
  '1': 'link',
  '2': 'link',
  '3': 'special',
  '4': 'special',
  '6': 'special',
}

/**
 * Reads one header block (POSIX ustar, or GNU's if it means the same). Readers disagree on base-256 numbers, sparse
 * files and GNU long names: those are refused, as is every inconsistent header.
 */
function decodeTarHeader(block: Buffer): TarHeader {
  checkChecksum(block)
  const posix = block.toString('latin1', 257, 265) === 'ustar\x0000'
  const gnu = block.toString('latin1', 257, 265) === 'ustar  \0'
  if (!posix && !gnu) throw unsupported('a header that is neither POSIX ustar nor GNU')
  const prefix = decodeText(block.subarray(345, 500))
  const name = decodeText(block.subarray(0, 100))
  if (gnu && block.subarray(345, 500).some((byte) => byte !== 0))
    throw unsupported(`a GNU extension at ${shownPath(name)}`)
  const path = prefix === '' ? name : `${prefix}/${name}`
  const flag = block.toString('latin1', 156, 157)
  const type = types[flag]
  const size = decodeOctal(block.subarray(124, 136), path)
  if (type === 'link')
    throw tarballFailure(
      'tarball_link',
      `${shownPath(path)} is a link to ${shownPath(decodeText(block.subarray(157, 257)))}.`,
      { path },
      'Put the file itself in its place.',
    )
  if (type === 'special')
    throw tarballFailure(
      'tarball_special_file',
      `${shownPath(path)} is a device or a FIFO.`,
      { path },
      'Only files and folders can be published.',
    )
  if (type === undefined) throw unsupported(`an entry of type ${JSON.stringify(flag)} at ${shownPath(path)}`)
  if (type === 'directory' && size !== 0) throw corrupt(`The folder ${shownPath(path)} has a size.`)
  return { path, size, type }
}

/** The path that a pax header (POSIX 2001) sets for the next entry; undefined if it sets none. */
function decodePaxPath(body: Buffer): string | undefined {
  let path: string | undefined
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at)
    const digits = space < 0 ? '' : body.toString('latin1', at, space)
    const end = at + Number(digits)
    if (!/^[1-9]\d{0,5}$/.test(digits) || end > body.length || end <= space + 1 || body[end - 1] !== 0x0a)
      throw corrupt('A pax header has a record of the wrong length.')
    const equals = body.indexOf(0x3d, space)
    if (equals < 0 || equals >= end) throw corrupt('A pax header has a record without "=".')
    const key = body.toString('latin1', space + 1, equals)
    if (key === 'path') {
      if (path !== undefined) throw unsupported('a pax header with two paths')
      path = decodeUtf8(body.subarray(equals + 1, end - 1))
    } else if (!harmlessPaxKey.test(key)) {
      throw unsupported(`the pax key ${JSON.stringify(key.slice(0, 40))}`)
    }
    at = end
  }
  return path
}

/** Keys that change neither a file's bytes nor its path. */
const harmlessPaxKey =
  /^(?:[acm]time|[ug]id|[ug]name|comment|LIBARCHIVE\.[\w.-]+|SCHILY\.(?:dev|ino|nlink|xattr\..+))$/s

function checkChecksum(block: Buffer): void {
  let sum = 8 * 0x20
  for (let index = 0; index < tarBlockSize; index++) if (index < 148 || index >= 156) sum += block[index]
  const text = block.toString('latin1', 148, 156)
  if (!/^[ 0]*[0-7]{1,7}[\0 ]+$/.test(text) || Number.parseInt(text.trim(), 8) !== sum)
    throw corrupt('A header has the wrong checksum.')
}

function decodeOctal(field: Buffer, path: string): number {
  const text = field.toString('latin1')
  if (!/^[0-7]{1,12}[\0 ]*$/.test(text)) throw unsupported(`a size that is not plain octal at ${shownPath(path)}`)
  return Number.parseInt(text, 8)
}

function decodeText(field: Buffer): string {
  const nul = field.indexOf(0)
  if (nul < 0) return decodeUtf8(field)
  // A reader that does not stop at the NUL would see another path.
  if (field.subarray(nul).some((byte) => byte !== 0))
    throw tarballFailure('tarball_path_nul', `${shownPath(field.toString('latin1'))} has a NUL byte in it.`)
  return decodeUtf8(field.subarray(0, nul))
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    const path = bytes.toString('latin1')
    throw tarballFailure('tarball_path_encoding', `${shownPath(path)} is not UTF-8.`, { path }, 'Rename the file.')
  }
}

function corrupt(message: string): Error {
  return tarballFailure('tarball_corrupt', message)
}

function unsupported(what: string): Error {
  return tarballFailure('tarball_entry_unsupported', `The tarball has ${what}, which tools read in different ways.`)
}

const flags = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }
const fixedHeader = 10
const trailer = 8

/**
 * Unpacks a gzip file (RFC 1952) in pieces. Stricter than gunzip, which ignores trailing data and joins members, so
 * that two readers could see two archives: requires exactly one member, with correct CRC-32 and length, and no trailing
 * byte. Throws `tarball_not_gzip`, `tarball_truncated`, `tarball_corrupt`, `tarball_trailing_data`.
 */
export async function* inflateGzip(bytes: Uint8Array): AsyncGenerator<Buffer> {
  const start = headerLength(bytes)
  const inflate = createInflateRaw()
  // Backpressure: the stream buffers one piece of output and the compressed bytes, which are in memory anyway.
  inflate.end(bytes.subarray(start))
  let crc = 0
  let length = 0
  try {
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      crc = crc32(piece, crc)
      length += piece.length
      yield piece
    }
  } catch (error) {
    throw inflateFailure(error)
  } finally {
    inflate.destroy()
  }
  checkTrailer(bytes, start + inflate.bytesWritten, crc, length)
}

function headerLength(bytes: Uint8Array): number {
  if (bytes.length < 2 || bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    throw tarballFailure('tarball_not_gzip', 'The upload is not a gzip file.')
  if (bytes.length < fixedHeader) throw truncated()
  const flag = bytes[3]
  if (bytes[2] !== 8 || (flag & flags.reserved) !== 0)
    throw tarballFailure('tarball_not_gzip', 'The gzip header has an unknown method or flag.')
  let at = fixedHeader
  if (flag & flags.extra) at += 2 + (bytes[at] | (bytes[at + 1] << 8))
  if (flag & flags.name) at = afterNul(bytes, at)
  if (flag & flags.comment) at = afterNul(bytes, at)
  if (flag & flags.headerCrc) at += 2
  if (!(at < bytes.length)) throw truncated()
  return at
}

function afterNul(bytes: Uint8Array, from: number): number {
  const nul = bytes.indexOf(0, from)
  if (nul < 0) throw truncated()
  return nul + 1
}

function checkTrailer(bytes: Uint8Array, end: number, crc: number, length: number): void {
  if (bytes.length < end + trailer) throw truncated()
  if (bytes.length > end + trailer) {
    const more = bytes.length - end - trailer
    throw tarballFailure('tarball_trailing_data', `${more} extra bytes follow the end of the gzip file.`, {
      bytes: more,
    })
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + end, trailer)
  if (view.getUint32(0, true) !== crc || view.getUint32(4, true) !== length >>> 0)
    throw tarballFailure('tarball_corrupt', 'The gzip file does not match its checksum.')
}

/** Errors of consumers pass through; zlib's are mapped to ours. */
function inflateFailure(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'Z_BUF_ERROR') return truncated(error)
  if (typeof code !== 'string' || !code.startsWith('Z_')) return error
  return tarballFailure('tarball_corrupt', 'The compressed data is damaged.')
}

function truncated(cause?: unknown): Error {
  const failure = tarballFailure('tarball_truncated', 'The gzip file is truncated.')
  if (cause !== undefined) failure.cause = cause
  return failure
}

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

const repack = 'Pack it again with `agentgym scenario publish`, `npm pack` or `pnpm pack`.'

/**
 * A path of an untrusted archive, made safe for a message: quoted, short, and without terminal or markup control
 * characters.
 */
export function shownPath(path: string): string {
  const escaped = JSON.stringify(path.slice(0, 200)).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return escaped.length > 200 || path.length > 200 ? `${escaped.slice(0, 200)}…"` : escaped
}

export function tarballFailure(
  code: ErrorCode,
  message: string,
  data: Record<string, unknown> = {},
  hint: string = repack,
): AgentGymError {
  return new AgentGymError({ code, message, hint, data })
}
