import { assertHost, describeValue, HostMistake, Problem } from './faults.ts'
import { boundsOf, refusePromise } from './observation-encoder.ts'
import { append, Float32Buffer, floor, isArray, max, min, nullObject, zeros } from './primordials.ts'
import {
  type BoxDescription,
  columnsOf,
  type DictDescription,
  logitsOf,
  type MultiDiscreteDescription,
  type SpaceDescription,
} from './read-space.ts'

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
  const low = boundsOf(space.low, -Infinity)
  const high = boundsOf(space.high, Infinity)
  const { integer } = space
  if (space.shape.length === 0) {
    return (row, offset) => {
      const value = row[offset]
      assertHost(value - value === 0, 'an action component is not finite')
      const inside = max(low[0], min(high[0], value))
      return integer === true ? floor(inside + 0.5) : inside
    }
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
  if (space.choice !== undefined) return branchDecoder(space, decoders, offsets)
  return (row, offset) => {
    const action = nullObject<unknown>()
    for (let i = 0; i < decoders.length; i += 1) {
      action[space.entries[i].name] = decoders[i](row, offset + offsets[i])
    }
    return action
  }
}

/** The choice, and the entry that has its name where there is one: the other entries say nothing. */
function branchDecoder(
  { entries, choice }: DictDescription,
  decoders: readonly ActionDecoder[],
  offsets: readonly number[],
): ActionDecoder {
  let chooser = 0
  while (entries[chooser].name !== choice) chooser += 1
  const { space } = entries[chooser]
  assertHost(space.type === 'discrete' && space.labels !== undefined, 'a choice without labels')
  const { labels, start } = space
  return (row, offset) => {
    const action = nullObject<unknown>()
    const chosen = decoders[chooser](row, offset + offsets[chooser]) as number
    action[entries[chooser].name] = chosen
    for (let i = 0; i < entries.length; i += 1) {
      if (i !== chooser && entries[i].name === labels[chosen - start]) {
        action[entries[i].name] = decoders[i](row, offset + offsets[i])
      }
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
      assertHost(false, 'an action space cannot be text or a list')
  }
}

/** Writes a mask into a row of one byte a logit; throws a Problem where it does not fit or leaves no action. */
export type MaskEncoder = (mask: unknown, row: Uint8Array, offset: number) => void

const SHAPE_HINT =
  'A mask has the shape of the action: boolean[] for discrete, one boolean[] a component for multiDiscrete, an object of those for dict.'

function invalid(path: string, what: string): never {
  throw new Problem('mask_invalid', `${path} ${what}`, SHAPE_HINT)
}

function writeComponent(mask: unknown, count: number, row: Uint8Array, offset: number, path: string): void {
  if (!isArray(mask)) {
    refusePromise(mask, 'actionMask')
    invalid(path, `is ${describeValue(mask)} where an array of ${count} booleans belongs`)
  }
  const length = mask.length
  if (length !== count) invalid(path, `has ${describeValue(length)} entries where the action space has ${count}`)
  let legal = 0
  for (let i = 0; i < count; i += 1) {
    const entry = mask[i]
    if (entry !== true && entry !== false) invalid(`${path}[${i}]`, `is ${describeValue(entry)}, not a boolean`)
    row[offset + i] = entry ? 1 : 0
    if (entry) legal += 1
  }
  if (legal === 0) {
    throw new Problem(
      'no_legal_action',
      `no legal action: all ${count} entries of ${path} are false`,
      'Leave at least one action legal, or end the episode (terminated: true) in the step before.',
    )
  }
}

function multiDiscreteEncoder(space: MultiDiscreteDescription, path: string): MaskEncoder {
  const { nvec } = space
  return (mask, row, offset) => {
    if (!isArray(mask)) {
      refusePromise(mask, 'actionMask')
      invalid(path, `is ${describeValue(mask)} where one array a component belongs`)
    }
    const length = mask.length
    if (length !== nvec.length)
      invalid(path, `has ${describeValue(length)} components where the action space has ${nvec.length}`)
    let column = offset
    for (let i = 0; i < nvec.length; i += 1) {
      writeComponent(mask[i], nvec[i], row, column, `${path}[${i}]`)
      column += nvec[i]
    }
  }
}

function dictEncoder(space: DictDescription, path: string): MaskEncoder {
  const names: string[] = []
  const encoders: MaskEncoder[] = []
  const offsets: number[] = []
  let columns = 0
  for (let i = 0; i < space.entries.length; i += 1) {
    const entry = space.entries[i]
    const logits = logitsOf(entry.space)
    if (logits === 0) continue
    append(names, entry.name)
    append(encoders, maskEncoder(entry.space, `${path}.${entry.name}`))
    append(offsets, columns)
    columns += logits
  }
  return (mask, row, offset) => {
    if (typeof mask !== 'object' || mask === null) invalid(path, `is ${describeValue(mask)} where an object belongs`)
    for (let i = 0; i < encoders.length; i += 1) {
      encoders[i]((mask as Record<string, unknown>)[names[i]], row, offset + offsets[i])
    }
  }
}

/** Compiles an action space into the encoder of its masks. Boxes have no columns. */
export function maskEncoder(space: SpaceDescription, path = 'actionMask'): MaskEncoder {
  switch (space.type) {
    case 'discrete': {
      const { n } = space
      return (mask, row, offset) => writeComponent(mask, n, row, offset, path)
    }
    case 'multiDiscrete':
      return multiDiscreteEncoder(space, path)
    case 'dict':
      return dictEncoder(space, path)
    default:
      return () => undefined
  }
}
