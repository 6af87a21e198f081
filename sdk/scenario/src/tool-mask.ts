import { describeValue } from './engine/describe-value.ts'
import { append, isArray, nullObject } from './engine/primordials.ts'
import { fail, type PlayedTool } from './read-tools.ts'
import { discrete, type Space } from './spaces.ts'

/** A mask of a parameter that leaves everything legal. */
export function allLegal(space: Space): unknown {
  if (space.type === 'discrete') {
    const mask: boolean[] = []
    for (let i = 0; i < space.n; i += 1) append(mask, true)
    return mask
  }
  if (space.type === 'multiDiscrete') {
    const mask: unknown[] = []
    for (let i = 0; i < space.nvec.length; i += 1) append(mask, allLegal(discrete({ n: space.nvec[i] })))
    return mask
  }
  const mask = nullObject<unknown>()
  if (space.type === 'dict') {
    for (let i = 0; i < space.entries.length; i += 1) mask[space.entries[i].name] = allLegal(space.entries[i].space)
  }
  return mask
}

export function toolMask<State>(names: unknown, tools: readonly PlayedTool<State>[]): boolean[] {
  if (!isArray(names)) fail(`available must return an array of tool names, got ${describeValue(names)}`)
  const mask: boolean[] = []
  for (let i = 0; i < tools.length; i += 1) append(mask, false)
  for (let i = 0; i < names.length; i += 1) {
    let index = 0
    while (index < tools.length && tools[index].name !== names[i]) index += 1
    if (index === tools.length) fail(`available returned ${describeValue(names[i])}, which is no tool`)
    mask[index] = true
  }
  return mask
}
