import { describeValue } from './describe-value.ts'
import { Problem } from './engine-fault.ts'
import { refusePromise } from './observation-encoder.ts'
import { append, isArray } from './primordials.ts'
import { logitsOf } from './read-space.ts'
import type { DictDescription, MultiDiscreteDescription, SpaceDescription } from './space-description.ts'

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
