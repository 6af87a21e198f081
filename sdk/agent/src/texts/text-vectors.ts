import assert from 'node:assert'
import type { PolicySpec } from '@agentgym/contract'
import { type EncoderFiles, SentenceEncoder } from './sentence-encoder.ts'
import type { EncodedLeaf, TextEncoderName } from './sentence-encoders.ts'
import { VectorCache } from './vector-cache.ts'

/** The files of the encoders that a scenario's texts need, by name. */
export type EncoderSet = Partial<Record<TextEncoderName, EncoderFiles>>

/** Obtains the files of all encoders that a policy's observations name. */
export async function obtainEncoders(
  { observation }: Pick<PolicySpec, 'observation'>,
  obtain: (name: TextEncoderName) => Promise<EncoderFiles>,
): Promise<EncoderSet> {
  const names = new Set(observation.flatMap(({ encoder }) => encoder?.name ?? []))
  return Object.fromEntries(await Promise.all([...names].map(async (name) => [name, await obtain(name)] as const)))
}

/** A text whose vector one thread has computed, for the others. */
export type EncodedText = { name: TextEncoderName; maxTokens: number; text: string; vector: Float32Array }

/** Texts that were looked up, and how many of them had to be encoded. */
export type EncodingCounts = { texts: number; encoded: number }

/** The vectors of texts, each computed once as long as it is remembered. One thread's. */
export class TextVectors {
  readonly #encoders = new Map<TextEncoderName, SentenceEncoder>()
  readonly #cache: VectorCache
  #counts: EncodingCounts = { texts: 0, encoded: 0 }
  #fresh: EncodedText[] = []

  constructor(files: EncoderSet, cache = new VectorCache()) {
    for (const [name, each] of Object.entries(files)) {
      this.#encoders.set(name as TextEncoderName, new SentenceEncoder(each))
    }
    this.#cache = cache
  }

  /** Of the text as far as the encoder reads it: its first characters, as well-formed Unicode. */
  vector(
    { name, maxTokens, characters }: Pick<EncodedLeaf, 'name' | 'maxTokens' | 'characters'>,
    whole: string,
  ): Float32Array {
    const text = whole.slice(0, characters).toWellFormed()
    this.#counts.texts += 1
    const known = this.#cache.get(keyOf(name, maxTokens, text))
    if (known !== undefined) return known
    const encoder = this.#encoders.get(name)
    assert(encoder !== undefined, `the encoder ${name} was not obtained`)
    const vector = encoder.encode(text, maxTokens)
    this.#counts.encoded += 1
    this.#cache.set(keyOf(name, maxTokens, text), vector)
    this.#fresh.push({ name, maxTokens, text, vector })
    return vector
  }

  /** What was looked up since the last call. */
  takeCounts(): EncodingCounts {
    const counts = this.#counts
    this.#counts = { texts: 0, encoded: 0 }
    return counts
  }

  /** What was encoded since the last call, for other threads to `learn`. */
  takeFresh(): EncodedText[] {
    const fresh = this.#fresh
    this.#fresh = []
    return fresh
  }

  /** Remembers what another thread has encoded. */
  learn(texts: EncodedText[]): void {
    for (const { name, maxTokens, text, vector } of texts) this.#cache.set(keyOf(name, maxTokens, text), vector)
  }

  dispose(): void {
    for (const encoder of this.#encoders.values()) encoder.dispose()
  }
}

function keyOf(name: string, maxTokens: number, text: string): string {
  return `${name} ${maxTokens} ${text}`
}
