import { AgentGymError } from '@agentgym/contract'
import type { FieldValues, VectorField } from '@agentgym/contract/protocols'
import { type ActionLeaf, actionLeaves } from '@agentgym/scenario/engine'
import type { ScenarioDescription } from '../../sandbox/vector-environment.ts'

/** Writes a frame's actions into the engine's rows, where they are legal. */
export class ActionRows {
  readonly #leaves: ActionLeaf[]
  readonly #columns: number
  readonly #maskColumns: number
  readonly #firstEnvironment: number

  constructor({ action, sizes, masked }: ScenarioDescription, firstEnvironment: number) {
    this.#leaves = actionLeaves(action)
    this.#columns = sizes.action
    this.#maskColumns = masked ? sizes.mask : 0
    this.#firstEnvironment = firstEnvironment
  }

  /**
   * Fills `rows` ([N, action]) from `actions`, one array a field. `masks` is [N, mask]; `skipped` marks environments that ignore their
   * action. Throws `request_invalid`, which names the environment and the field, before anything is stepped.
   */
  write(actions: readonly FieldValues[], rows: Float32Array, masks: Uint8Array, skipped: Uint8Array): void {
    const count = skipped.length
    for (const [index, leaf] of this.#leaves.entries()) {
      const values = actions[index] as Exclude<FieldValues, string[]>
      for (let row = 0; row < count; row += 1) {
        const offset = row * this.#columns + leaf.offset
        for (let i = 0; i < leaf.size; i += 1) rows[offset + i] = skipped[row] === 1 ? 0 : values[row * leaf.size + i]
      }
    }
    for (let row = 0; row < count; row += 1) if (skipped[row] !== 1) this.#check(rows, masks, row)
  }

  #check(rows: Float32Array, masks: Uint8Array, row: number): void {
    const start = row * this.#columns
    for (const leaf of this.#leaves) {
      const { when, kind, counts, size, offset } = leaf
      const counted = when === undefined || rows[start + when.column] === when.choice
      let mask = row * this.#maskColumns + leaf.maskOffset
      for (let i = 0; i < size; i += 1) {
        const value = rows[start + offset + i]
        if (kind === 'box') {
          if (!Number.isFinite(value)) throw this.#refuse(row, leaf, `is ${value}`)
          continue
        }
        const choices = counts[i]
        if (!(value >= 0 && value < choices))
          throw this.#refuse(row, leaf, `is ${value}, not one of ${choices} choices`)
        if (counted && this.#maskColumns > 0 && masks[mask + value] !== 1) {
          throw this.#refuse(row, leaf, `is ${value}, which the mask of the last reply forbids`)
        }
        mask += choices
      }
    }
  }

  #refuse(row: number, { name }: ActionLeaf, what: string): AgentGymError {
    const environment = this.#firstEnvironment + row
    const field = name === 'action' ? 'action' : `action "${name}"`
    return new AgentGymError({
      code: 'request_invalid',
      message: `The ${field} of environment ${environment} ${what}.`,
      data: { environment, field: name },
    })
  }
}

/** The columns of one field of the observation as a frame has them, of the rows listed (all of them where `picked` is null). */
export function columnsOf(
  field: VectorField,
  { rows, width, offset, size }: { rows: Float32Array; width: number; offset: number; size: number },
  picked: readonly number[] | null,
): Float32Array | Int32Array {
  if (field.dtype === 'float32' && size === width && picked === null) return rows
  const count = picked?.length ?? rows.length / width
  const columns = field.dtype === 'float32' ? new Float32Array(count * size) : new Int32Array(count * size)
  for (let row = 0; row < count; row += 1) {
    const start = (picked?.[row] ?? row) * width + offset
    for (let i = 0; i < size; i += 1) columns[row * size + i] = rows[start + i]
  }
  return columns
}
