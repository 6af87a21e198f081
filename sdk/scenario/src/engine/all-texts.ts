import { append, wellFormed } from './primordials.ts'

/**
 * Keeps what all texts in the observations of all rows say, for clients that read words and not the row's tokens. `now` are those of
 * the observations in `buffers.observations`, `final` those of the episodes that have ended since the last reading.
 */
export class AllTexts {
  readonly #now: string[][] = []
  readonly #final: string[][] = []
  #taken: string[] = []

  constructor(rows: number) {
    for (let row = 0; row < rows; row += 1) {
      append(this.#now, [])
      append(this.#final, [])
    }
  }

  /** Before an observation of that row is encoded. */
  begin(row: number, final: boolean): void {
    this.#taken = []
    if (final) this.#final[row] = this.#taken
    else this.#now[row] = this.#taken
  }

  /** A text of the observation that is encoded, in order of the leaves. */
  take(text: string): void {
    append(this.#taken, wellFormed(text))
  }

  /** Of each row both lists, as `TextWatch` writes them. */
  encoded(): string {
    let encoded = ''
    for (let row = 0; row < this.#now.length; row += 1) {
      encoded += listOf(this.#now[row])
      encoded += listOf(this.#final[row])
      this.#final[row] = []
    }
    return encoded
  }
}

/** How many, then each text behind its length: `2;5:hello0:`. JSON would ask the author's `toJSON`. */
export function listOf(texts: readonly string[]): string {
  let encoded = `${texts.length};`
  for (let i = 0; i < texts.length; i += 1) encoded += `${texts[i].length}:${texts[i]}`
  return encoded
}
