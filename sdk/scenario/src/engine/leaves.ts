import { append, fround } from './primordials.ts'
import { type BoxDescription, columnsOf, logitsOf, type SpaceDescription } from './read-space.ts'

/** One leaf of the observation space in the flat row; the same type as `ObservationLeaf` of @agentgym/contract. */
export type ObservationLeaf = {
  name: string
  kind: 'box' | 'discrete' | 'multiDiscrete' | 'text'
  offset: number
  size: number
  counts: number[]
  shape: number[]
}

/** One leaf of the action space in the flat rows; the same type as `ActionLeaf` of @agentgym/contract. */
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
    if (leaf.type === 'box') for (let j = 0; j < leaf.shape.length; j += 1) append(shape, leaf.shape[j])
    else append(shape, size)
    append(leaves, { name: names[i] || 'obs', kind: leaf.type, offset, size, counts: countsOf(leaf), shape })
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
  for (let i = 0; i < spaces.length; i += 1) {
    const leaf = spaces[i]
    if (leaf.type === 'text') continue
    const size = columnsOf(leaf)
    const logits = logitsOf(leaf)
    const isBox = leaf.type === 'box'
    const { center, scale } = isBox ? affineOf(leaf) : { center: [], scale: [] }
    append(leaves, {
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
    })
    offset += size
    distributionOffset += isBox ? size : logits
    maskOffset += logits
    if (isBox) logStdOffset += size
  }
  return leaves
}
