import { append, fround } from './primordials.ts'
import {
  type BoxDescription,
  columnsOf,
  indexOf,
  logitsOf,
  rowShapeOf,
  type SpaceDescription,
  type TextEncoderName,
} from './read-space.ts'

/** One leaf of the observation space in the flat row. `ObservationLeaf` of @agentgym/contract is what a policy sees of it. */
export type ObservationLeaf = {
  name: string
  kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
  offset: number
  size: number
  counts: number[]
  shape: number[]
  /** Of a list: rows of the shape, which are alike. */
  slots?: number
  /** Of a text whose columns hold a sentence encoder's vector, which the runtime writes; and the tokens that it reads. */
  encoder?: { name: TextEncoderName; maxTokens: number }
}

/** One leaf of the action space in the flat rows: what the policy's own `ActionLeaf` of @agentgym/contract is made of. */
export type ActionLeaf = {
  name: string
  kind: 'discrete' | 'multiDiscrete' | 'box'
  offset: number
  size: number
  counts: number[]
  distributionOffset: number
  maskOffset: number
  logStdOffset: number
  low: (number | null)[]
  high: (number | null)[]
  center: number[]
  scale: number[]
  /** Chosen by the policy, never by the engine. */
  squash?: ('tanh' | 'exp' | 'sinh')[]
  start: number
  /** Counts only where the action row has `choice` in `column`: a parameter of a tool. */
  when?: { column: number; choice: number }
  /** A pointer: the list of the observation whose slots are the choices. */
  list?: string
  /** One a column, where parameters are not trained; a choice by its index. */
  default?: number
}

type LeafSpace = Exclude<SpaceDescription, { type: 'dict' }>

function collectLeaves(space: SpaceDescription, path: string, names: string[], spaces: LeafSpace[]): void {
  if (space.type !== 'dict') {
    append(names, path)
    append(spaces, space)
    return
  }
  for (let i = 0; i < space.entries.length; i += 1) {
    const entry = space.entries[i]
    collectLeaves(entry.space, path === '' ? entry.name : `${path}.${entry.name}`, names, spaces)
  }
}

/** For each leaf of an action, the label of the choice that it belongs to; null for leaves that always count. */
function collectBranches(space: SpaceDescription): (string | null)[] {
  const branches: (string | null)[] = []
  if (space.type !== 'dict' || space.choice === undefined) return branches
  for (let i = 0; i < space.entries.length; i += 1) {
    const entry = space.entries[i]
    const inner: string[] = []
    collectLeaves(entry.space, '', inner, [])
    for (let j = 0; j < inner.length; j += 1) append(branches, entry.name === space.choice ? null : entry.name)
  }
  return branches
}

function countsOf(space: LeafSpace): number[] {
  if (space.type === 'discrete') return [space.n]
  if (space.type === 'text') return [space.vocabulary]
  const counts: number[] = []
  if (space.type === 'multiDiscrete') for (let i = 0; i < space.nvec.length; i += 1) append(counts, space.nvec[i])
  return counts
}

/** Leaves of an observation space in row order: `obs` for a space that is no dict, else dict paths joined by dots. */
export function observationLeaves(space: SpaceDescription): ObservationLeaf[] {
  const names: string[] = []
  const spaces: LeafSpace[] = []
  collectLeaves(space, '', names, spaces)
  const leaves: ObservationLeaf[] = []
  let offset = 0
  for (let i = 0; i < spaces.length; i += 1) {
    const leaf = spaces[i]
    const size = columnsOf(leaf)
    const shape: number[] = []
    if (leaf.type === 'list') {
      const list = { name: names[i] || 'obs', kind: 'box' as const, offset, size, counts: [], slots: leaf.slots }
      append(leaves, { ...list, shape: [leaf.slots, 1 + leaf.features] })
      offset += size
      continue
    }
    if (leaf.type === 'box') {
      const lengths = rowShapeOf(leaf)
      for (let j = 0; j < lengths.length; j += 1) append(shape, lengths[j])
    } else append(shape, size)
    const observed: ObservationLeaf = {
      name: names[i] || 'obs',
      kind: leaf.type,
      offset,
      size,
      counts: countsOf(leaf),
      shape,
    }
    if (leaf.type === 'text' && leaf.encoder !== undefined) {
      observed.encoder = { name: leaf.encoder, maxTokens: leaf.maxTokens }
    }
    append(leaves, observed)
    offset += size
  }
  return leaves
}

/** Center and half width of bounded elements; 0 and 1 where a side is open. */
function affineOf(space: BoxDescription): { center: number[]; scale: number[] } {
  const center: number[] = []
  const scale: number[] = []
  for (let i = 0; i < space.low.length; i += 1) {
    const low = space.low[i]
    const high = space.high[i]
    const bounded = low !== null && high !== null && high > low
    append(center, bounded ? fround(low / 2 + high / 2) : (low ?? high ?? 0))
    append(scale, bounded ? fround(high / 2 - low / 2) : 1)
  }
  return { center, scale }
}

function columnBefore(spaces: readonly LeafSpace[], index: number): number {
  let column = 0
  for (let i = 0; i < index; i += 1) column += columnsOf(spaces[i])
  return column
}

/** Leaves of an action space in row order: `action` for a space that is no dict, else dict paths joined by dots. */
export function actionLeaves(space: SpaceDescription): ActionLeaf[] {
  const names: string[] = []
  const spaces: LeafSpace[] = []
  collectLeaves(space, '', names, spaces)
  const leaves: ActionLeaf[] = []
  let offset = 0
  let distributionOffset = 0
  let maskOffset = 0
  let logStdOffset = 0
  const branches = collectBranches(space)
  let chooser: { column: number; labels: readonly string[] } | null = null
  for (let i = 0; i < spaces.length; i += 1) {
    const leaf = spaces[i]
    if (leaf.type === 'discrete' && branches.length > 0 && branches[i] === null) {
      chooser = { column: columnBefore(spaces, i), labels: leaf.labels ?? [] }
    }
  }
  for (let i = 0; i < spaces.length; i += 1) {
    const leaf = spaces[i]
    if (leaf.type === 'text' || leaf.type === 'list') continue
    const size = columnsOf(leaf)
    const logits = logitsOf(leaf)
    const isBox = leaf.type === 'box'
    const { center, scale } = isBox ? affineOf(leaf) : { center: [], scale: [] }
    const whole: ActionLeaf = {
      name: names[i] || 'action',
      kind: leaf.type,
      offset,
      size,
      counts: countsOf(leaf),
      distributionOffset,
      maskOffset,
      logStdOffset,
      low: isBox ? leaf.low : [],
      high: isBox ? leaf.high : [],
      center,
      scale,
      start: leaf.type === 'discrete' ? leaf.start : 0,
    }
    const branch = branches[i] ?? null
    if (branch !== null && chooser !== null) {
      whole.when = { column: chooser.column, choice: indexOf(chooser.labels, branch) }
    }
    if (leaf.type === 'discrete' && leaf.list !== undefined) whole.list = leaf.list
    if (leaf.type !== 'multiDiscrete' && leaf.default !== undefined) whole.default = leaf.default
    append(leaves, whole)
    offset += size
    distributionOffset += isBox ? size : logits
    maskOffset += logits
    if (isBox) logStdOffset += size
  }
  return leaves
}
