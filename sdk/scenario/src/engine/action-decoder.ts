import { assertHost, HostMistake } from './engine-fault.ts'
import { append, Float32Buffer, max, min, nullObject, zeros } from './primordials.ts'
import { columnsOf } from './read-space.ts'
import type { BoxDescription, DictDescription, SpaceDescription } from './space-description.ts'

/**
 * Reads one action from a flat row. Every call makes a new value: the author may keep it, and never holds shared memory.
 */
export type ActionDecoder = (row: Float32Array, offset: number) => unknown

function refuseIndex(value: number, count: number): never {
  throw new HostMistake(`engine: action index ${value} is not in 0 to ${count - 1}`)
}

function readIndex(value: number, count: number): number {
  if (!(value >= 0 && value < count && (value | 0) === value)) refuseIndex(value, count)
  return value
}

function boxDecoder(space: BoxDescription): ActionDecoder {
  const size = space.low.length
  const low = new Float32Buffer(size)
  const high = new Float32Buffer(size)
  for (let i = 0; i < size; i += 1) {
    low[i] = space.low[i] ?? -Infinity
    high[i] = space.high[i] ?? Infinity
  }
  return (row, offset) => {
    const action = new Float32Buffer(size)
    for (let i = 0; i < size; i += 1) {
      const value = row[offset + i]
      assertHost(value - value === 0, 'an action component is not finite')
      action[i] = max(low[i], min(high[i], value))
    }
    return action
  }
}

function dictDecoder(space: DictDescription): ActionDecoder {
  const decoders: ActionDecoder[] = []
  const offsets: number[] = []
  let columns = 0
  for (let i = 0; i < space.entries.length; i += 1) {
    append(decoders, actionDecoder(space.entries[i].space))
    append(offsets, columns)
    columns += columnsOf(space.entries[i].space)
  }
  return (row, offset) => {
    const action = nullObject<unknown>()
    for (let i = 0; i < decoders.length; i += 1) {
      action[space.entries[i].name] = decoders[i](row, offset + offsets[i])
    }
    return action
  }
}

/** Compiles an action space. Categorical actions arrive as indices from 0; the discrete space's start is added here. */
export function actionDecoder(space: SpaceDescription): ActionDecoder {
  switch (space.type) {
    case 'discrete': {
      const { n, start } = space
      return (row, offset) => start + readIndex(row[offset], n)
    }
    case 'multiDiscrete': {
      const { nvec } = space
      const length = nvec.length
      return (row, offset) => {
        const action = zeros(length)
        for (let i = 0; i < length; i += 1) action[i] = readIndex(row[offset + i], nvec[i])
        return action
      }
    }
    case 'box':
      return boxDecoder(space)
    case 'dict':
      return dictDecoder(space)
    default:
      assertHost(false, 'an action space cannot be text')
  }
}
