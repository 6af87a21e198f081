import { append, stringSlice, wellFormed } from './primordials.ts'

/** Texts leave the isolate for pictures only: of each its beginning, and of the leaves the first. */
const MAX_TEXTS = 4
const MAX_CHARACTERS = 500

/**
 * Keeps what the texts in the first row's observations say, as the encoder read them: the row itself holds nothing but
 * tokens. `now` are those of the observation in `buffers.observations`, `final` those of `buffers.finalObservations`.
 */
export class TextWatch {
  #now: string[] = []
  #final: string[] = []
  #taken: string[] | null = null

  /** Before an observation of that row is encoded. */
  begin(row: number, final: boolean): void {
    this.#taken = row === 0 ? [] : null
    if (row !== 0) return
    if (final) this.#final = this.#taken as string[]
    else this.#now = this.#taken as string[]
  }

  /** A text of the observation that is encoded, in order of the leaves. */
  take(text: string): void {
    if (this.#taken === null || this.#taken.length === MAX_TEXTS) return
    append(this.#taken, wellFormed(stringSlice(text, 0, MAX_CHARACTERS)))
  }

  /**
   * Both lists as one string: how many, then each text behind its length, `2;5:hello0:` and the other list after it. JSON
   * would ask the author's `toJSON`.
   */
  encoded(): string {
    return encode(this.#now) + encode(this.#final)
  }
}

function encode(texts: readonly string[]): string {
  let encoded = `${texts.length};`
  for (let i = 0; i < texts.length; i += 1) encoded += `${texts[i].length}:${texts[i]}`
  return encoded
}
