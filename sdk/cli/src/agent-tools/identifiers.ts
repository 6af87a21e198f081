/** Names and texts from outside as they are written into TypeScript and Markdown: data, never code. */

/** Longest name of a tool or an argument, as the engine takes it. */
const MAX_NAME = 64
/** Words that would be odd or impossible where names become variables. */
const reserved = new Set(
  `tool arguments await break case catch class const continue debugger default delete do else enum eval export extends false
  finally for function if implements import in instanceof interface let new null package private protected public return static
  super switch this throw true try typeof undefined var void while with yield`.split(/\s+/),
)

/**
 * A name that can be a property and, with `-` replaced, a variable: a letter, then letters, digits, `_` or `-`, at most 64
 * characters, unlike those in `taken`. A name that is one already is kept.
 */
export function identifier(text: string, fallback: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, MAX_NAME)
  const base = plain === '' ? fallback : reserved.has(plain) ? `${plain}_` : plain
  if (!taken.has(base)) return base
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`
    const name = `${base.slice(0, MAX_NAME - suffix.length)}${suffix}`
    if (!taken.has(name)) return name
  }
}

/** A key of an object in TypeScript, quoted where it must be. */
export function key(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : literal(name)
}

/** A string literal. Everything but printable ASCII and letters is escaped, so that no text can end it or reorder a line. */
export function literal(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  let body = ''
  for (const character of text) {
    if (character === '\\' || character === quote) body += `\\${character}`
    else if (character === '\n') body += '\\n'
    else if (/[\p{L}\p{M}\p{N}\p{S} -~]/u.test(character)) body += character
    else body += unicodeEscape(character)
  }
  return `${quote}${body}${quote}`
}

function unicodeEscape(character: string): string {
  let escaped = ''
  for (let i = 0; i < character.length; i += 1) escaped += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  return escaped
}

/** One line of plain text for a comment: no line breaks, nothing that ends a comment, limited length. */
export function commentText(text: string, longest = 160): string {
  return plainLine(text, longest).replaceAll('*/', '* /')
}

/** Plain text for a cell of a Markdown table: nothing in it is markup. */
export function markdownText(text: string, longest = 160): string {
  return plainLine(text, longest).replace(/[\\`*_{}[\]()#+!|<>~&$]/g, '\\$&')
}

/** One line of printable text. */
export function plainLine(text: string, longest: number): string {
  const line = text
    .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`
}

/**
 * An array of string literals: on one line if it fits, else one a line, indented by `indent`. `before`: characters in front of it on
 * its line.
 */
export function wordList(words: readonly string[], indent: string, before: number): string {
  const literals = words.map(literal)
  const line = `[${literals.join(', ')}]`
  if (before + line.length + 1 <= 120) return line
  return `[\n${literals.map((word) => `${indent}  ${word},`).join('\n')}\n${indent}]`
}
