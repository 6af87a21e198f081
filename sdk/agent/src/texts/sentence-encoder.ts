import { loadSession, type OnnxSession } from '../policy/onnx-session.ts'
import { type Tensor, tensor } from '../policy/tensors.ts'
import { WordPieces } from './word-pieces.ts'

/** The contents of an encoder's files, which `obtainEncoder` has compared with their pinned hashes. */
export type EncoderFiles = {
  model: Uint8Array
  /** One word piece a line. */
  vocabulary: string
}

/** Numbers of a vector. */
const DIMENSIONS = 384

/**
 * A frozen sentence encoder: mean pooling over all word pieces, then division by the norm, as sentence-transformers does
 * with this model. Loaded when it is first used, which takes half a second and about 200 MB.
 */
export class SentenceEncoder {
  readonly #files: EncoderFiles
  #loaded: { session: OnnxSession; pieces: WordPieces } | null = null

  constructor(files: EncoderFiles) {
    this.#files = files
  }

  /**
   * The vector [384] of a text. Each text is encoded by itself, without padding: its vector has the same bits whatever else
   * is encoded, on every machine that computes alike.
   */
  encode(text: string, maxTokens: number): Float32Array {
    const { session, pieces } = this.#load()
    const ids = pieces.encode(text, maxTokens)
    const states = tensor([1, ids.length, DIMENSIONS])
    session.run(
      {
        input_ids: integers(ids),
        attention_mask: integers(ids.map(() => 1)),
        token_type_ids: integers(ids.map(() => 0)),
      },
      { last_hidden_state: states },
    )
    return normalizedMean(states.data, ids.length)
  }

  dispose(): void {
    this.#loaded?.session.dispose()
    this.#loaded = null
  }

  #load() {
    const { model, vocabulary } = this.#files
    // ONNX Runtime loads from no shared memory: a copy.
    this.#loaded ??= { session: loadSession(model.slice(), 'cpu'), pieces: new WordPieces(vocabulary) }
    return this.#loaded
  }
}

function integers(values: number[]): Tensor {
  return { type: 'int64', location: 'cpu', dims: [1, values.length], data: BigInt64Array.from(values, BigInt) }
}

/** Mean over the rows of [rows, 384], divided by its Euclidean norm; summed in float64. */
function normalizedMean(states: Float32Array, rows: number): Float32Array {
  const mean = new Float64Array(DIMENSIONS)
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < DIMENSIONS; i++) mean[i] += states[row * DIMENSIONS + i] / rows
  }
  const norm = Math.sqrt(mean.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(mean, (value) => value / Math.max(norm, 1e-12))
}
