import { decodePax, decodeUtf8, maxPaxBytes, type TarForm } from './pax-header.ts'
import { readersDisagree, shownPath, tarballFailure } from './tarball-failure.ts'

export type TarEntry = { path: string; size: number; type: 'file' | 'directory' }

/** What `readTar` yields: an entry, then its bytes in pieces until the next one. */
type TarPart = { entry: TarEntry } | { bytes: Buffer }

/** GNU tar fills its last record of 10,240 bytes; more zeros than that mean nothing. */
const maxPadding = 64 * 1024

/**
 * Reads a tar archive in pieces, and checks every byte of it: whole blocks, zero padding, the two blocks of zeros at
 * the end, and only zeros after them. Buffers no more than one block, or one pax header.
 */
export async function* readTar(pieces: AsyncIterable<Buffer>, form: TarForm): AsyncGenerator<TarPart> {
  const input = new BlockInput(pieces)
  try {
    yield* readEntries(input, form)
    await expectOnlyZeros(input)
  } finally {
    await input.close()
  }
}

async function* readEntries(input: BlockInput, form: TarForm): AsyncGenerator<TarPart> {
  let pax: ReturnType<typeof decodePax> | undefined
  for (;;) {
    const block = await input.take(tarBlockSize)
    if (isZero(block)) break
    const header = decodeTarHeader(block, form)
    if (header.type === 'pax') {
      if (pax !== undefined) throw readersDisagree('a pax header after another')
      if (header.size === 0) throw readersDisagree('an empty pax header')
      if (header.size > maxPaxBytes[form]) throw readersDisagree('a large pax header')
      pax = decodePax(await input.take(header.size), form)
    } else {
      if (pax?.size !== undefined && pax.size !== header.size)
        throw readersDisagree(`a pax size other than that of the header at ${shownPath(header.path)}`)
      yield { entry: { path: pax?.path ?? header.path, size: header.size, type: header.type } }
      for (let left = header.size; left > 0; ) {
        const bytes = await input.takeSome(left)
        left -= bytes.length
        yield { bytes }
      }
      pax = undefined
    }
    if (!isZero(await input.take(-header.size & (tarBlockSize - 1)))) throw trailing()
  }
  if (pax !== undefined) throw tarballFailure('tarball_corrupt', 'The tarball ends after a pax header.')
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
function decodeTarHeader(block: Buffer, form: TarForm): TarHeader {
  checkChecksum(block)
  checkNumbers(block, form)
  const posix = block.toString('latin1', 257, 265) === 'ustar\x0000'
  const gnu = block.toString('latin1', 257, 265) === 'ustar  \0'
  if (!posix && !gnu) throw readersDisagree('a header that is neither POSIX ustar nor GNU')
  const prefix = decodeText(block.subarray(345, 500))
  const name = decodeText(block.subarray(0, 100))
  if (gnu && block.subarray(345, 500).some((byte) => byte !== 0))
    throw readersDisagree(`a GNU extension at ${shownPath(name)}`)
  const path = prefix === '' ? name : `${prefix}/${name}`
  const flag = block.toString('latin1', 156, 157)
  const type = types[flag]
  const size = decodeOctal(block.subarray(124, 136), path)
  if (type === 'link')
    throw tarballFailure(
      'tarball_link',
      `${shownPath(path)} is a link to ${shownPath(decodeText(block.subarray(157, 257)))}.`,
      { path },
      'Replace it with the file itself.',
    )
  if (type === 'special')
    throw tarballFailure(
      'tarball_special_file',
      `${shownPath(path)} is a device or a FIFO.`,
      { path },
      'Only files and folders can be published.',
    )
  if (block.subarray(157, 257).some((byte) => byte !== 0))
    throw readersDisagree(`the target of a link at ${shownPath(path)}, which is none`)
  if (type === undefined) throw readersDisagree(`an entry of type ${JSON.stringify(flag)} at ${shownPath(path)}`)
  if (type === 'directory' && size !== 0) throw corrupt(`The folder ${shownPath(path)} has a size.`)
  return { path, size, type }
}

function checkChecksum(block: Buffer): void {
  let sum = 8 * 0x20
  for (let index = 0; index < tarBlockSize; index++) if (index < 148 || index >= 156) sum += block[index]
  const text = block.toString('latin1', 148, 156)
  if (!/^[ 0]*[0-7]{1,7}[\0 ]+$/.test(text) || Number.parseInt(text.trim(), 8) !== sum)
    throw corrupt('A header has the wrong checksum.')
}

/** Mode, owner, group, time and device: their offsets and lengths. They mean nothing here, but are numbers to others. */
const numbers = [
  [100, 8],
  [108, 8],
  [116, 8],
  [136, 12],
  [329, 8],
  [337, 8],
]

/** A reader that fails on one of these passes over the header, and takes the file behind it for headers. */
function checkNumbers(block: Buffer, form: TarForm): void {
  for (const [offset, length] of numbers) {
    const field = block.subarray(offset, offset + length)
    const base256 = field[0] === 0x80 || field[0] === 0xff
    if (form === 'stored' && base256) continue
    if (!/^ *[0-7]*[\0 ]*$/.test(field.toString('latin1'))) throw readersDisagree('a number that is not plain octal')
  }
}

function decodeOctal(field: Buffer, path: string): number {
  const text = field.toString('latin1')
  if (!/^[0-7]{1,12}[\0 ]*$/.test(text)) throw readersDisagree(`a size that is not plain octal at ${shownPath(path)}`)
  return Number.parseInt(text, 8)
}

function decodeText(field: Buffer): string {
  const nul = field.indexOf(0)
  if (nul < 0) return decodeUtf8(field)
  // A reader that does not stop at the NUL would see another path.
  if (field.subarray(nul).some((byte) => byte !== 0))
    throw tarballFailure('tarball_path_nul', `${shownPath(field.toString('latin1'))} contains a NUL byte.`)
  return decodeUtf8(field.subarray(0, nul))
}

function corrupt(message: string): Error {
  return tarballFailure('tarball_corrupt', message)
}
