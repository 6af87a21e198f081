const word = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no spaces between words: each character counts as one. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/gu
const latinMarks = /[\u0300-\u036f]/g
/** Control characters, NUL above all, which PostgreSQL does not take. */
const notInNames = /\p{C}/gu
/** PostgreSQL takes 2,046 bytes; normalising can make eighteen characters of one. */
const maxWordCharacters = 80
const maxQueryWords = 12

/**
 * The words of a text, so that texts and queries are taken apart by one rule: lower case, accents off, nothing but
 * letters and digits. PostgreSQL's parser would see addresses, paths and signed numbers in `cart-pole/1.0`.
 */
export function searchWords(text: string): string[] {
  const folded = text.normalize('NFKD').replace(latinMarks, '').toLowerCase()
  return (folded.replace(unspaced, ' $& ').match(word) ?? []).map((found) => found.slice(0, maxWordCharacters))
}

/** Words of a package's name: scope, parts, and the parts in one, for `cartpole` means `cart-pole`. */
export function nameWords(name: string): string[] {
  const [scope, base] = name.replace(/^@/, '').split('/')
  const parts = searchWords(base)
  return [...searchWords(scope), ...parts, ...(parts.length > 1 ? [parts.join('')] : [])]
}

export type SearchQuery = {
  /**
   * For `to_tsquery`: all words, the last as a beginning unless it is a single Latin letter or digit, with which a good part
   * of all words begins. Nothing but letters, digits, `&` and `:*` is in it.
   */
  tsquery: string
  /** What the name would be if the query is one: `@acme/cart-pole`, or `cart-pole`, also for `cart pole`. */
  name: string
}

/** Null where the text holds no word. */
export function searchQuery(text: string): SearchQuery | null {
  const words = searchWords(text).slice(0, maxQueryWords)
  if (words.length === 0) return null
  const name = text.trim().toLowerCase().replace(/\s+/g, '-').replace(notInNames, '')
  return {
    tsquery: words.join(' & ') + (/^[a-z0-9]$/.test(words[words.length - 1]) ? '' : ':*'),
    name: name.includes('/') && !name.startsWith('@') ? `@${name}` : name,
  }
}
