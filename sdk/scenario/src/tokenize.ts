import {
  append,
  charCodeAt,
  Float32Buffer,
  imul,
  isInteger,
  lowerCase,
  normalizeString,
  PlainRangeError,
  PlainTypeError,
  regExpExec,
  StringMap,
} from './engine/primordials.ts'
import { finalizeHash } from './engine/random-stream.ts'

/** Texts beyond this many UTF-16 units are refused: an observation is something to read, not a dump. */
export const MAX_TEXT_LENGTH = 1_000_000

/**
 * A word: a run of letters, marks and digits; or one character of a script that is written without spaces. Unicode
 * properties do not depend on a locale.
 */
export const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[[\p{L}\p{M}\p{N}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]]+/gv

/** FNV-1a over the bytes of the UTF-16 units, then MurmurHash3's finaliser, since FNV's low bits alone mix poorly. */
function hashWord(text: string, start: number, end: number): number {
  let h = 0x811c9dc5 | 0
  for (let i = start; i < end; i += 1) {
    const unit = charCodeAt(text, i)
    h = imul(h ^ (unit & 0xff), 0x01000193)
    h = imul(h ^ (unit >>> 8), 0x01000193)
  }
  return finalizeHash(h) >>> 0
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (charCodeAt(text, i) > 127) return false
  return true
}

function isAsciiWordUnit(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57)
}

/**
 * Writes token ids from `offset` on and 0 in what is left of `maxTokens`; returns how many words were written.
 * `target` may be longer than the row.
 */
function writeTokens(
  text: string,
  maxTokens: number,
  vocabulary: number,
  target: Float32Array | number[],
  offset: number,
): number {
  const lower = lowerCase(isAscii(text) ? text : normalizeString(text, 'NFKC'))
  let count = 0
  if (isAscii(lower)) {
    let start = -1
    for (let i = 0; i <= lower.length && count < maxTokens; i += 1) {
      const inWord = i < lower.length && isAsciiWordUnit(charCodeAt(lower, i))
      if (inWord && start < 0) start = i
      else if (!inWord && start >= 0) {
        target[offset + count] = 1 + (hashWord(lower, start, i) % (vocabulary - 1))
        count += 1
        start = -1
      }
    }
  } else {
    WORD.lastIndex = 0
    for (let match = regExpExec(WORD, lower); match !== null && count < maxTokens; match = regExpExec(WORD, lower)) {
      const word = match[0]
      target[offset + count] = 1 + (hashWord(word, 0, word.length) % (vocabulary - 1))
      count += 1
    }
  }
  for (let i = count; i < maxTokens; i += 1) target[offset + i] = 0
  return count
}

/** A cache holds texts and tokens of this many UTF-16 units, about 8 MB, and no text of more than 4,000 units. */
const MAX_CACHE_UNITS = 4_000_000
const MAX_CACHED_TEXT = 4000

/** `writeTokens` that remembers what texts were read as: most observations of an episode repeat their texts. */
export class CachedTokenizer {
  readonly #maxTokens: number
  readonly #vocabulary: number
  readonly #known = new StringMap<Float32Array>()
  #units = 0

  constructor(maxTokens: number, vocabulary: number) {
    this.#maxTokens = maxTokens
    this.#vocabulary = vocabulary
  }

  write(text: string, target: Float32Array, offset: number): void {
    const known = this.#known.get(text)
    if (known === undefined) {
      writeTokens(text, this.#maxTokens, this.#vocabulary, target, offset)
      if (text.length <= MAX_CACHED_TEXT) this.#keep(text, target, offset)
      return
    }
    for (let i = 0; i < this.#maxTokens; i += 1) target[offset + i] = known[i]
  }

  /** Starts over when the cache is full, so that texts that never return cost no more than the work of keeping them. */
  #keep(text: string, target: Float32Array, offset: number): void {
    const units = text.length + 2 * this.#maxTokens
    if (units > MAX_CACHE_UNITS) return
    this.#units += units
    if (this.#units > MAX_CACHE_UNITS) {
      this.#known.clear()
      this.#units = units
    }
    const tokens = new Float32Buffer(this.#maxTokens)
    for (let i = 0; i < this.#maxTokens; i += 1) tokens[i] = target[offset + i]
    this.#known.set(text, tokens)
  }
}

/**
 * The tokenizer of text spaces: lower-case words, hashed. The same text gives the same ids on every machine and in every
 * locale; different words may share an id (there is no word list to ship or to outgrow). Punctuation is dropped.
 * Returns `maxTokens` ids: 1 to `vocabulary - 1` for words, 0 for padding after them.
 */
export function tokenize(text: string, options: { maxTokens: number; vocabulary?: number }): number[] {
  const { maxTokens, vocabulary = 4096 } = options
  if (typeof text !== 'string') throw new PlainTypeError('tokenize(text, options): the text must be a string')
  if (!isInteger(maxTokens) || maxTokens < 1)
    throw new PlainRangeError('tokenize: maxTokens must be a positive integer')
  if (!isInteger(vocabulary) || vocabulary < 2)
    throw new PlainRangeError('tokenize: vocabulary must be an integer from 2 on')
  const ids: number[] = []
  for (let i = 0; i < maxTokens; i += 1) append(ids, 0)
  writeTokens(text, maxTokens, vocabulary, ids, 0)
  return ids
}
