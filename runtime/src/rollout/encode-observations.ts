import { type EncodedLeaf, encodedLeaves, type TextVectors } from '@agentgym/agent/engine'
import { IDLE, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'

/**
 * The same environment, whose rows hold the vectors of its texts whenever a method returns. An environment without such
 * texts is given back as it is. All that steps environments for a policy uses this, so that training, evaluation and
 * verification see the same numbers.
 */
export function encodeObservations(environment: VectorEnvironment, vectors: TextVectors | null): VectorEnvironment {
  const leaves = encodedLeaves(environment.description.observation)
  if (leaves.length === 0 || vectors === null) return environment
  return new EncodedEnvironment(environment, leaves, vectors)
}

class EncodedEnvironment implements VectorEnvironment {
  readonly environments: number
  readonly description: VectorEnvironment['description']
  readonly buffers: VectorEnvironment['buffers']
  readonly replays: boolean
  readonly #environment: VectorEnvironment
  readonly #leaves: EncodedLeaf[]
  readonly #vectors: TextVectors

  constructor(environment: VectorEnvironment, leaves: EncodedLeaf[], vectors: TextVectors) {
    this.environments = environment.environments
    this.description = environment.description
    this.buffers = environment.buffers
    this.replays = environment.replays
    this.#environment = environment
    this.#leaves = leaves
    this.#vectors = vectors
  }

  reset(episode?: number): void {
    this.#environment.reset(episode)
    for (let row = 0; row < this.environments; row++) this.#encodeRow(row)
  }

  step(): void {
    this.#environment.step()
    const { flags } = this.buffers
    for (let row = 0; row < this.environments; row++) {
      if ((flags[row] & (TERMINATED | TRUNCATED)) !== 0) this.#encodeRow(row, true)
      this.#encodeRow(row)
    }
  }

  metricNames(): string[] {
    return this.#environment.metricNames()
  }

  restore(environment: number, episode: number, actions: Float32Array, seed?: number): void {
    this.#environment.restore(environment, episode, actions, seed)
    this.#encodeRow(environment)
  }

  dispose(): void {
    this.#environment.dispose()
  }

  #encodeRow(row: number, final = false): void {
    const { observations, finalObservations, texts, finalTexts, flags } = this.buffers
    // Rows of an idle environment mean nothing.
    if ((flags[row] & IDLE) !== 0) return
    const { observation: width, text: units } = this.description.sizes
    const rows = final ? finalObservations : observations
    for (const leaf of this.#leaves) {
      const text = readText(final ? finalTexts : texts, row * units + leaf.textOffset, leaf.characters)
      rows.set(this.#vectors.vector(leaf, text), row * width + leaf.offset)
    }
  }
}

/** A length and so many UTF-16 units; the guest's realm wrote them, so the length is held to the room. */
function readText(units: Uint16Array, at: number, most: number): string {
  const length = Math.min(units[at], most)
  return Buffer.from(units.buffer, units.byteOffset + 2 * (at + 1), 2 * length).toString('utf16le')
}
