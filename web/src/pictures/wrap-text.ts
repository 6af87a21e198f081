/** Letters of East Asia and emoji take the room of two. */
const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u

function width(text: string): number {
  let cells = 0
  for (const letter of text) cells += wide.test(letter) ? 2 : 1
  return cells
}

/** Breaks a text into lines of at most `cells` characters of one width; what goes beyond `lines` ends in an ellipsis. */
export function wrapText(text: string, cells: number, lines: number): string[] {
  const wrapped: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(/\s+/).filter((word) => word !== '')) {
      for (const piece of pieces(word, cells)) {
        const longer = line === '' ? piece : `${line} ${piece}`
        if (width(longer) <= cells) line = longer
        else {
          wrapped.push(line)
          line = piece
        }
      }
    }
    if (line !== '') wrapped.push(line)
  }
  if (wrapped.length <= lines) return wrapped
  const kept = wrapped.slice(0, lines)
  return [...kept.slice(0, -1), `${fitting(kept[lines - 1], cells - 1)}…`]
}

/** A word, in parts that fit. */
function pieces(word: string, cells: number): string[] {
  const parts: string[] = []
  let rest = word
  while (width(rest) > cells) {
    const part = fitting(rest, cells)
    parts.push(part)
    rest = rest.slice(part.length)
  }
  return [...parts, rest]
}

function fitting(text: string, cells: number): string {
  let part = ''
  for (const letter of text) {
    if (width(part + letter) > cells) break
    part += letter
  }
  return part
}
