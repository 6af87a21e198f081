/**
 * Makes text from untrusted code safe to show: control characters (terminal escapes, newlines), bidirectional marks and
 * lone surrogates become visible escapes, and no more than `limit` characters are kept.
 */
export function escapeOutput(text: string, limit: number): string {
  const kept = text.length > limit ? `${text.slice(0, limit)}…` : text
  return kept.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === '\n') return '\\n'
    if (character === '\t') return '\\t'
    return `\\u{${character.codePointAt(0)?.toString(16)}}`
  })
}

/** Titles, summaries and metric names are the author's: no Markdown of theirs may act in a buyer's view. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\p{Cc}]+/gu, ' ').replace(/[\\`*_{}[\]<>#|!]/g, '\\$&')
}
