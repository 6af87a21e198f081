import { crc32, createInflateRaw } from 'node:zlib'
import { readersDisagree, tarballFailure } from './tarball-failure.ts'

const flags = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 }
const fixedHeader = 10
const trailer = 8

/**
 * Unpacks a gzip file (RFC 1952) in pieces. Stricter than gunzip, which ignores trailing data and joins members, so
 * that two readers could see two archives: requires exactly one member, with correct CRC-32 and length, and no trailing
 * byte. Throws `tarball_not_gzip`, `tarball_truncated`, `tarball_corrupt`, `tarball_trailing_data`,
 * `tarball_entry_unsupported`.
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
  // gunzip verifies it, other readers skip it: some would refuse what others unpack.
  if ((flag & flags.headerCrc) !== 0) throw readersDisagree('a checksum of its gzip header')
  if (flag & flags.extra) at += 2 + (bytes[at] | (bytes[at + 1] << 8))
  if (flag & flags.name) at = afterNul(bytes, at)
  if (flag & flags.comment) at = afterNul(bytes, at)
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
