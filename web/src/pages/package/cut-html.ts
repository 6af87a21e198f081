const tag = /<(\/?)([a-z][a-z0-9]*)(?:"[^"]*"|[^">])*>/g
const empty = new Set(['br', 'hr', 'img', 'input'])

/**
 * The beginning of sanitised HTML, of at most about that many bytes: up to the end of a block, where one ends in its second
 * half, or else within, with what is open closed. Null where all of it is short enough.
 */
export function cutHtml(html: string, bytes: number): string | null {
  if (html.length <= bytes && Buffer.byteLength(html) <= bytes) return null
  const open: string[] = []
  let size = 0
  let from = 0
  let block = { at: 0, size: 0 }
  let inner = { at: 0, open: [] as string[] }
  const atText = (text: string) => {
    const line = lastLine(text, bytes - size)
    if (line > 0) inner = { at: from + line, open: [...open] }
    size += Buffer.byteLength(text)
  }
  for (const match of html.matchAll(tag)) {
    atText(html.slice(from, match.index))
    if (size > bytes) break
    const [whole, end, name] = match
    size += Buffer.byteLength(whole)
    if (size > bytes) break
    if (end !== '') open.pop()
    else if (!empty.has(name)) open.push(name)
    from = match.index + whole.length
    if (open.length === 0) block = { at: from, size }
    inner = { at: from, open: [...open] }
  }
  if (size <= bytes) atText(html.slice(from))
  if (block.size > bytes / 2) return html.slice(0, block.at)
  return (
    html.slice(0, inner.at) +
    inner.open
      .toReversed()
      .map((name) => `</${name}>`)
      .join('')
  )
}

/** How many characters of a text fit, up to the end of a line or a word: a character that is written as `&#x3C;` stays whole. */
function lastLine(text: string, bytes: number): number {
  if (Buffer.byteLength(text) <= bytes) return text.length
  // At most four bytes a character.
  const fitting = Buffer.from(text)
    .subarray(0, Math.max(0, bytes))
    .toString()
    .replace(/\ufffd+$/, '').length
  return Math.max(text.lastIndexOf('\n', fitting), text.lastIndexOf(' ', fitting)) + 1
}
