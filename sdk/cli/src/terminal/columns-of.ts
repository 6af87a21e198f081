import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let widthOf: ((text: string) => number) | undefined

/** Columns that a text takes on the screen; escape sequences count as nothing. */
export function columnsOf(text: string): number {
  // What most texts are. The package's tables of Unicode take a fifth of a command's start, and many commands end without.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  widthOf ??= (require('string-width') as typeof import('string-width')).default
  return widthOf(text)
}
