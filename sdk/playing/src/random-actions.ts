import {
  type ActionLeaf,
  actionLeaves,
  type EnvironmentBuffers,
  type ScenarioDescription,
} from '@agentgym/scenario/engine'

/** A policy that knows nothing: uniform among the legal choices, uniform or standard normal in boxes. */
export class RandomActions {
  readonly #leaves: ActionLeaf[]
  readonly #columns: number
  readonly #maskColumns: number
  #state: number

  constructor({ action, sizes }: Pick<ScenarioDescription, 'action' | 'sizes'>, seed: number) {
    this.#leaves = actionLeaves(action)
    this.#columns = sizes.action
    this.#maskColumns = sizes.mask
    this.#state = seed | 0
  }

  /** Fills `buffers.actions` for every row. */
  fill(buffers: EnvironmentBuffers): void {
    for (let row = 0; row < buffers.flags.length; row++) this.fillRow(buffers, row)
  }

  fillRow({ actions, masks }: EnvironmentBuffers, row: number): void {
    for (const leaf of this.#leaves) {
      const offset = row * this.#columns + leaf.offset
      if (leaf.kind === 'box') this.#fillBox(leaf, actions, offset)
      else this.#fillCategorical(leaf, actions, offset, masks, row * this.#maskColumns + leaf.maskOffset)
    }
  }

  #fillBox({ low, high, size }: ActionLeaf, actions: Float32Array, offset: number): void {
    for (let column = 0; column < size; column++) {
      const [from, to] = [low[column] ?? -1, high[column] ?? 1]
      actions[offset + column] = from + (to - from) * this.#uniform()
    }
  }

  #fillCategorical({ counts }: ActionLeaf, actions: Float32Array, offset: number, masks: Uint8Array, mask: number) {
    let column = mask
    counts.forEach((count, component) => {
      const legal: number[] = []
      for (let choice = 0; choice < count; choice++) {
        if (this.#maskColumns === 0 || masks[column + choice] === 1) legal.push(choice)
      }
      actions[offset + component] = legal[Math.floor(this.#uniform() * legal.length)]
      column += count
    })
  }

  /** mulberry32 (Tommy Ettinger). */
  #uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
