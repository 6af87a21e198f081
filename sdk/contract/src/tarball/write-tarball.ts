import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'

/** A file of a package, by its path below `package/`. */
export type PackedFile = { path: string; bytes: Uint8Array }

export type WrittenTarball = {
  bytes: Uint8Array<ArrayBuffer>
  /** `sha512-…` (base64), as in npm's lock files. */
  integrity: string
  /** SHA-1 (hex), for old clients. */
  shasum: string
  /** Total size of the files in bytes. */
  unpackedBytes: number
}

/**
 * Writes a package's tarball in the one form that the registry hands out: package.json first, then the files by their
 * paths' bytes; ustar headers, and a pax header only for a path that is not ASCII or does not fit; one mode, owner and
 * time for all; a gzip header without name and time. The same files give the same archive everywhere. (Compressed bytes
 * can differ between releases of zlib and kinds of processors.)
 */
export async function writeTarball(files: readonly PackedFile[]): Promise<WrittenTarball> {
  const sorted = files
    .map(({ path, bytes }) => ({ path: Buffer.from(`package/${path}`), bytes, first: path === 'package.json' }))
    .sort((a, b) => Number(b.first) - Number(a.first) || Buffer.compare(a.path, b.path))
  let crc = 0
  let length = 0
  const archive = function* () {
    for (const piece of tarPieces(sorted)) {
      crc = crc32(piece, crc)
      length += piece.length
      yield piece
    }
  }
  const packed: Uint8Array[] = [gzipHeader]
  const deflate = createDeflateRaw({ level: 6, memLevel: 8, windowBits: 15 })
  deflate.on('data', (piece: Buffer) => packed.push(piece))
  await pipeline(Readable.from(archive(), { objectMode: false }), deflate)
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc, 0)
  trailer.writeUInt32LE(length >>> 0, 4)
  const bytes = Uint8Array.from(Buffer.concat([...packed, trailer]))
  return {
    bytes,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    shasum: createHash('sha1').update(bytes).digest('hex'),
    unpackedBytes: files.reduce((sum, file) => sum + file.bytes.length, 0),
  }
}

/** Deflate, no flags, no time, no level, system unknown. */
const gzipHeader = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
const blockSize = 512

function* tarPieces(files: { path: Buffer; bytes: Uint8Array }[]): Generator<Uint8Array> {
  for (const { path, bytes } of files) {
    const fields = splitPath(path)
    if (fields === undefined) {
      const body = paxBody(path)
      yield header({ name: Buffer.from('package/PaxHeader'), prefix: none, size: body.length, type: 'x' })
      yield* padded(body)
    }
    const { name, prefix } = fields ?? { name: Buffer.from('package/see-pax-header'), prefix: none }
    yield header({ name, prefix, size: bytes.length, type: '0' })
    yield* padded(bytes)
  }
  yield Buffer.alloc(2 * blockSize)
}

const none = Buffer.alloc(0)

/** A path as ustar's two fields, split at the first slash that makes both fit; undefined if pax has to say it. */
function splitPath(path: Buffer): { name: Buffer; prefix: Buffer } | undefined {
  if (path.some((byte) => byte > 0x7e)) return undefined
  if (path.length <= 100) return { name: path, prefix: none }
  const slash = path.indexOf('/', path.length - 101)
  if (slash < 1 || slash > 155 || slash === path.length - 1) return undefined
  return { name: path.subarray(slash + 1), prefix: path.subarray(0, slash) }
}

function paxBody(path: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(' path='), path, Buffer.from('\n')])
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

/** The time that npm gives every file: 1985-10-26T08:15:00Z. */
const npmTime = '03560116604'

function header(entry: { name: Buffer; prefix: Buffer; size: number; type: '0' | 'x' }): Buffer {
  const block = Buffer.alloc(blockSize)
  entry.name.copy(block, 0)
  block.write('0000644\0', 100, 'latin1')
  block.write('0000000\0', 108, 'latin1')
  block.write('0000000\0', 116, 'latin1')
  block.write(`${entry.size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  block.write(`${npmTime}\0`, 136, 'latin1')
  block.write('        ', 148, 'latin1')
  block.write(entry.type, 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  block.write('0000000\0', 329, 'latin1')
  block.write('0000000\0', 337, 'latin1')
  entry.prefix.copy(block, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function* padded(bytes: Uint8Array): Generator<Uint8Array> {
  if (bytes.length === 0) return
  yield bytes
  const padding = -bytes.length & (blockSize - 1)
  if (padding > 0) yield Buffer.alloc(padding)
}
