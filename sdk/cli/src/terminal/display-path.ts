import { isAbsolute, relative, resolve } from 'node:path'

/** A path as a user here would type it: relative when that is no longer than going up one folder, absolute otherwise. */
export function displayPath(path: string, from = process.cwd()): string {
  const absolute = resolve(from, path)
  const short = relative(from, absolute)
  if (short === '') return '.'
  return short.startsWith('..') || isAbsolute(short) ? absolute : short
}
