import { readersDisagree, shownPath, tarballFailure } from './tarball-failure.ts'

/**
 * How strict to be. `upload`: what a new version may have. `stored`: also what earlier servers stored: pax keys that mean
 * nothing for path and bytes, and owners in base 256.
 */
export type TarForm = 'upload' | 'stored'

/** One block for uploads: npm decodes a header block by block, and would misread a character that spans two. */
export const maxPaxBytes: Record<TarForm, number> = { upload: 512, stored: 64 * 1024 }

/**
 * Keys that a pax header may have, and the form of their values. `size` repeats the header's. npm writes all three where a
 * path is not ASCII.
 */
const values = new Map([
  ['path', /^[^\n]+$/],
  ['size', /^(?:0|[1-9]\d{0,14})$/],
  ['mtime', /^\d{1,12}(?:\.\d{1,12})?$/],
])
/** Further keys of GNU tar and bsdtar, which change neither a file's bytes nor its path. */
const harmless = /^(?:[acm]time|[ug]id|[ug]name|comment|LIBARCHIVE\.[\w.-]+|SCHILY\.(?:dev|ino|nlink|xattr\.[\w.-]+))$/

/**
 * What a pax header (POSIX 2001) sets for the next entry. Refuses what readers disagree on: unknown keys, a key twice, and
 * values with a newline, where npm begins another record.
 */
export function decodePax(body: Buffer, form: TarForm): { path?: string; size?: number } {
  const found = new Map<string, string>()
  for (let at = 0; at < body.length; ) {
    const { key, value, end } = recordAt(body, at)
    at = end
    if (found.has(key)) throw readersDisagree(`a pax header with the key ${shownPath(key)} twice`)
    found.set(key, value)
    const allowed = values.get(key) ?? (form === 'stored' && harmless.test(key) ? /^[^\n\0]*$/ : undefined)
    if (allowed === undefined) throw readersDisagree(`the pax key ${shownPath(key.slice(0, 40))}`)
    if (!allowed.test(value))
      throw readersDisagree(`the pax value ${shownPath(value.slice(0, 80))} of ${shownPath(key)}`)
  }
  const size = found.get('size')
  return { path: found.get('path'), size: size === undefined ? undefined : Number(size) }
}

/** `LENGTH KEY=VALUE\n`, where the length counts all of it. */
function recordAt(body: Buffer, at: number): { key: string; value: string; end: number } {
  const space = body.indexOf(0x20, at)
  const digits = space < 0 ? '' : body.toString('latin1', at, space)
  const end = at + Number(digits)
  if (!/^[1-9]\d{0,5}$/.test(digits) || end > body.length || end <= space + 1 || body[end - 1] !== 0x0a)
    throw tarballFailure('tarball_corrupt', 'A pax header has a record of the wrong length.')
  const equals = body.indexOf(0x3d, space)
  if (equals < 0 || equals >= end) throw tarballFailure('tarball_corrupt', 'A pax header has a record without "=".')
  return {
    key: body.toString('latin1', space + 1, equals),
    value: decodeUtf8(body.subarray(equals + 1, end - 1)),
    end,
  }
}

/** Throws `tarball_path_encoding`. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    const path = bytes.toString('latin1')
    throw tarballFailure('tarball_path_encoding', `${shownPath(path)} is not UTF-8.`, { path }, 'Rename the file.')
  }
}
