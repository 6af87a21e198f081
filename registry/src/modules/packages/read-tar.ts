import { decodePaxPath, decodeTarHeader, tarBlockSize } from './tar-header.ts'
import { tarballFailure } from './tarball-failure.ts'

export type TarEntry = { path: string; size: number; type: 'file' | 'directory' }

/** What `readTar` tells: an entry, then its bytes in pieces until the next one. */
export type TarPart = { entry: TarEntry } | { bytes: Buffer }

const maxPaxBytes = 64 * 1024
/** GNU tar fills its last record of 10,240 bytes; more zeros than that mean nothing. */
const maxPadding = 64 * 1024

/**
 * Reads a tar archive piece by piece, and accounts for every byte of it: whole blocks, zeros where padding is, the two
 * blocks of zeros at the end, and nothing after them but zeros. Holds no more than one block, or one pax header.
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

/** Gives the pieces of a stream in the lengths asked for. */
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
      if (!(await this.#next())) throw tarballFailure('tarball_truncated', 'The tar archive ends before its end.')
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
