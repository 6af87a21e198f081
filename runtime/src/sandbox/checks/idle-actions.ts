import { type ActionLeaf, actionLeaves, type EnvironmentBuffers } from '@agentgym/scenario/engine'
import type { ScenarioDescription } from '../vector-environment.ts'

/** A policy that does nothing of its own: always the first legal choice, and in boxes 0 or the bound nearest to it. */
export class IdleActions {
  readonly #leaves: ActionLeaf[]
  readonly #columns: number
  readonly #maskColumns: number

  constructor({ action, sizes }: Pick<ScenarioDescription, 'action' | 'sizes'>) {
    this.#leaves = actionLeaves(action)
    this.#columns = sizes.action
    this.#maskColumns = sizes.mask
  }

  /** Fills `buffers.actions` for every row. */
  fill({ actions, masks, flags }: EnvironmentBuffers): void {
    for (let row = 0; row < flags.length; row++) {
      for (const leaf of this.#leaves) {
        const offset = row * this.#columns + leaf.offset
        if (leaf.kind === 'box') fillBox(leaf, actions, offset)
        else fillFirstLegal(leaf, actions, offset, masks, row * this.#maskColumns + leaf.maskOffset)
      }
    }
  }
}

function fillBox({ low, high, size }: ActionLeaf, actions: Float32Array, offset: number): void {
  for (let column = 0; column < size; column++) {
    const atLeastLow = Math.max(0, low[column] ?? -Infinity)
    actions[offset + column] = Math.min(atLeastLow, high[column] ?? Infinity)
  }
}

function fillFirstLegal(
  leaf: ActionLeaf,
  actions: Float32Array,
  offset: number,
  masks: Uint8Array,
  mask: number,
): void {
  let column = mask
  leaf.counts.forEach((count, component) => {
    // Without a mask there is nothing to find, and every choice is legal.
    const first = masks.subarray(column, column + count).indexOf(1)
    actions[offset + component] = Math.max(0, first)
    column += count
  })
}
