import { escapeOutput } from '@agentgym/contract'

/** The end of a stream of output, at most `bytes` of it, whatever is written. */
export class OutputTail {
  readonly #limit: number
  #tail = Buffer.alloc(0)

  constructor(bytes: number) {
    this.#limit = bytes
  }

  push(chunk: Buffer): void {
    const joined = Buffer.concat([this.#tail, chunk.subarray(Math.max(0, chunk.length - this.#limit))])
    this.#tail = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#limit)))
  }

  /** Not escaped: for matching against, never for showing. */
  get raw(): string {
    return this.#tail.toString('utf8')
  }

  /** The last `limit` characters, escaped. */
  shown(limit: number): string {
    return escapeOutput(this.raw, Number.POSITIVE_INFINITY).slice(-limit)
  }
}
