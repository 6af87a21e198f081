/** Vectors of 384 numbers: 65,536 of them take 100 MB, and their texts about as much. */
const CACHED_VECTORS = 65_536

/** The vectors of texts, least recently used first; beyond `capacity` the oldest are forgotten. */
export class VectorCache {
  readonly #capacity: number
  readonly #vectors = new Map<string, Float32Array>()

  constructor(capacity = CACHED_VECTORS) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#vectors.size
  }

  /** Counts as a use. */
  get(text: string): Float32Array | undefined {
    const vector = this.#vectors.get(text)
    if (vector !== undefined) {
      // A map keeps the order in which its entries were set.
      this.#vectors.delete(text)
      this.#vectors.set(text, vector)
    }
    return vector
  }

  set(text: string, vector: Float32Array): void {
    this.#vectors.delete(text)
    this.#vectors.set(text, vector)
    if (this.#vectors.size <= this.#capacity) return
    const [oldest] = this.#vectors.keys()
    this.#vectors.delete(oldest)
  }
}
