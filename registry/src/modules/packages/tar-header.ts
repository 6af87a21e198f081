import { shownPath, tarballFailure } from './tarball-failure.ts'

export const tarBlockSize = 512

export type TarHeader = {
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
 * Reads one header block (POSIX ustar, or GNU's where it means the same). Readers differ in how they take numbers in
 * base 256, sparse files and long names of GNU's: those are refused, as is everything that does not add up.
 */
export function decodeTarHeader(block: Buffer): TarHeader {
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

/** The path that a pax header (POSIX 2001) gives to the entry after it; undefined where it gives none. */
export function decodePaxPath(body: Buffer): string | undefined {
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

/** What changes neither which bytes a file has nor where it goes. */
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
  return tarballFailure('tarball_entry_unsupported', `The tarball has ${what}, which readers take in different ways.`)
}
