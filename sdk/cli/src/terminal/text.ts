import { createRequire } from 'node:module'

let graphemes: Intl.Segmenter | undefined

/** Cuts plain text (no escape sequences) to `width` columns, ending with `ellipsis` when something was cut. */
export function fitText(text: string, width: number, ellipsis = '…'): string {
  if (width <= 0) return ''
  if (columnsOf(text) <= width) return text
  const room = width - columnsOf(ellipsis)
  if (room <= 0) return ellipsis.slice(0, width)
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  let used = 0
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    const columns = columnsOf(segment)
    if (used + columns > room) break
    kept += segment
    used += columns
  }
  return kept + ellipsis
}

/** Pads with spaces to `width` columns on the screen; escape sequences count as nothing. */
export function padText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - columnsOf(text)))
  return align === 'left' ? text + space : space + text
}

/** Breaks plain text at spaces into lines of at most `width` columns; longer words are cut into pieces. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (let word of text.split(' ')) {
    while (columnsOf(word) > width) {
      if (line) lines.push(line)
      line = ''
      const piece = fitText(word, width, '')
      lines.push(piece)
      word = word.slice(piece.length)
    }
    const joined = line ? `${line} ${word}` : word
    if (columnsOf(joined) > width) {
      lines.push(line)
      line = word
    } else line = joined
  }
  lines.push(line)
  return lines
}

const require = createRequire(import.meta.url)
let widthOf: ((text: string) => number) | undefined

/** Columns that a text takes on the screen; escape sequences count as nothing. */
export function columnsOf(text: string): number {
  // What most texts are. The package's tables of Unicode take a fifth of a command's start, and many commands end without.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  widthOf ??= (require('string-width') as typeof import('string-width')).default
  return widthOf(text)
}

const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

// C0 and C1 controls, DEL, line separators, and the marks that reorder or hide text (bidirectional controls,
// zero-width characters, byte-order mark, tags).
const unsafe =
  /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/**
 * Text from others (titles, messages, metric names, paths) made fit for a terminal: control characters and characters
 * that reorder text become visible escapes, and what is longer than `limit` characters is cut with an ellipsis.
 */
export function safeText(text: string, limit = 500): string {
  const wellFormed = text.slice(0, limit * 2 + 2).toWellFormed()
  const characters = Array.from(wellFormed)
  const cut = characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : wellFormed
  return cut.replace(unsafe, escapeCharacter)
}

function escapeCharacter(character: string): string {
  if (named[character]) return named[character]
  const code = character.codePointAt(0) ?? 0
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
}

/** An argument as a user may paste it into a POSIX shell. Control characters become visible escapes. */
export function shellQuote(argument: string): string {
  const text = safeText(argument, 4096)
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(text)) return text
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** What is typed for the next page of a list: the same command with its filters, and the cursor. */
export function moreCommand(
  command: string,
  filters: Record<string, string | number | boolean | undefined>,
  cursor: string,
): string {
  const entries: [string, string | number | boolean | undefined][] = Object.entries({ ...filters, cursor })
  const words = entries.flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [`--${name}`, shellQuote(String(value))]
  })
  return [command, ...words].join(' ')
}
