import type { SpaceDescription } from '@agentgym/contract'
import type { FieldValues, VectorField } from '@agentgym/contract/protocols'
import { actionLeaves, columnOrder, observationEncoder, observationLeaves } from '@agentgym/scenario/engine'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import { externalError } from './external-failure.ts'

/** One field of the observation and its place in a row. */
type ObservationField = {
  name: string
  offset: number
  size: number
  /** Choices of each column; empty where the columns are numbers. */
  counts: readonly number[]
  /** The column of each number of the frame; null where they are in the frame's order. */
  order: readonly number[] | null
  /** Of a text: writes its tokens. */
  encode: ((sample: unknown, row: Float32Array, offset: number) => void) | null
}

type ActionField = { dtype: VectorField['dtype']; offset: number; size: number; low: Float32Array; high: Float32Array }

/** Turns the arrays of a frame, one a leaf, into the flat rows of the engine's buffers, and actions back. */
export class RowCodec {
  readonly #identity: ScenarioIdentity
  readonly #observation: ObservationField[]
  readonly #action: ActionField[]
  readonly #observationSize: number
  readonly #actionSize: number

  /** Throws `environment_invalid` where the fields are not those of the spaces. */
  constructor(
    identity: ScenarioIdentity,
    spaces: { observation: SpaceDescription; action: SpaceDescription },
    fields: { observation: readonly VectorField[]; action: readonly VectorField[] },
  ) {
    this.#identity = identity
    const observed = observationLeaves(spaces.observation)
    const acted = actionLeaves(spaces.action)
    this.#assertFields('observation', fields.observation, observed)
    this.#assertFields('action', fields.action, acted)
    const leaves = leafSpaces(spaces.observation)
    this.#observation = observed.map(({ name, kind, offset, size, counts, encoder }, i) => {
      if (encoder !== undefined) {
        const what = `its text ${JSON.stringify(name)} asks for the sentence encoder ${encoder.name}, which only scenarios have`
        throw externalError(identity, { code: 'environment_invalid', what })
      }
      const encode = kind === 'text' ? observationEncoder(leaves[i], name) : null
      const order = leaves[i].type === 'box' ? columnOrder(leaves[i]) : null
      return { name, offset, size, counts: kind === 'box' || kind === 'text' ? [] : counts, order, encode }
    })
    this.#action = acted.map(({ offset, size, low, high }, i) => ({
      ...{ dtype: fields.action[i].dtype, offset, size },
      low: Float32Array.from(low, (bound) => bound ?? Number.NEGATIVE_INFINITY),
      high: Float32Array.from(high, (bound) => bound ?? Number.POSITIVE_INFINITY),
    }))
    this.#observationSize = observed.reduce((sum, { size }) => sum + size, 0)
    this.#actionSize = acted.reduce((sum, { size }) => sum + size, 0)
  }

  /** `rows` ([environments]): 1 where a row is written; by default all are. */
  writeObservations(fields: readonly FieldValues[], target: Float32Array, rows: Uint8Array | null = null): void {
    const environments = target.length / this.#observationSize
    this.#observation.forEach((field, i) => {
      const values = fields[i]
      const whole = field.size === this.#observationSize && field.counts.length === 0 && field.order === null
      if (whole && rows === null && !Array.isArray(values)) target.set(values)
      else
        for (let row = 0; row < environments; row++)
          if (rows === null || rows[row] === 1) this.#write(field, values, row, target, row)
    })
  }

  /** Rows of the ended episodes alone, in order of their environments. */
  writeFinal(fields: readonly FieldValues[], target: Float32Array, ended: Uint8Array): void {
    this.#observation.forEach((field, i) => {
      let from = 0
      ended.forEach((flag, row) => {
        if (flag === 1) this.#write(field, fields[i], from++, target, row)
      })
    })
  }

  /** The arrays of a step's frame; boxes inside their bounds. */
  readActions(actions: Float32Array, environments: number): FieldValues[] {
    return this.#action.map(({ dtype, offset, size, low, high }) => {
      const values = dtype === 'float32' ? new Float32Array(environments * size) : new Int32Array(environments * size)
      for (let row = 0; row < environments; row++) {
        for (let i = 0; i < size; i++) {
          const value = actions[row * this.#actionSize + offset + i]
          values[row * size + i] =
            dtype === 'float32' && low.length > 0 ? Math.min(high[i], Math.max(low[i], value)) : Math.round(value)
        }
      }
      return values
    })
  }

  #write(field: ObservationField, values: FieldValues, from: number, target: Float32Array, row: number): void {
    const { offset, size, counts, order, encode, name } = field
    const at = row * this.#observationSize + offset
    if (encode !== null) {
      encode(values[from], target, at)
      return
    }
    const numbers = values as Exclude<FieldValues, string[]>
    for (let i = 0; i < size; i++) {
      const value = numbers[from * size + i]
      if (counts.length > 0 && !(value >= 0 && value < counts[i])) {
        const what = `its observation ${JSON.stringify(name)} is ${value} where an index from 0 to ${counts[i] - 1} belongs`
        throw externalError(this.#identity, { code: 'observation_invalid', what, data: { row } })
      }
      target[at + (order === null ? i : order[i])] = value
    }
  }

  #assertFields(
    role: 'observation' | 'action',
    fields: readonly VectorField[],
    leaves: readonly { name: string; kind: string; size: number }[],
  ): void {
    const fits = leaves.every(({ kind, size }, i) => {
      const field = fields[i]
      if (field === undefined || (field.dtype === 'text') !== (kind === 'text')) return false
      return kind === 'text' || field.shape.reduce((product, length) => product * length, 1) === size
    })
    if (fits && fields.length === leaves.length) return
    const what = `the fields of its ${role} are not those of its ${role} space`
    throw externalError(this.#identity, { code: 'environment_invalid', what })
  }
}

function leafSpaces(space: SpaceDescription): SpaceDescription[] {
  return space.type === 'dict' ? space.entries.flatMap(({ space: inner }) => leafSpaces(inner)) : [space]
}
