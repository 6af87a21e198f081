import { columnsOf } from './columns-of.ts'

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
