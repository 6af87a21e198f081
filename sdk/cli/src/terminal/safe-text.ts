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
