/** A book of recipes: what can be gathered, what is made of what, and the thing that is wanted. */
import type { Rng } from '@agentgym/scenario'

const materials = ['oak', 'copper', 'clay', 'silver', 'wool', 'glass', 'bone', 'amber', 'iron', 'birch'] as const
const shapes = [
  'plank',
  'wire',
  'brick',
  'ring',
  'cloth',
  'lens',
  'hook',
  'bead',
  'plate',
  'rod',
  'frame',
  'lamp',
] as const

export type Item = {
  name: string
  /** What one is made of; none for what can be gathered. */
  inputs: readonly string[]
}

export type Book = {
  /** In random order. */
  items: readonly Item[]
  goal: string
  /** Recipes from the goal down to what can be gathered, along the longest way: 2 to 4. */
  depth: number
}

const LEAST_DEPTH = 2
const MOST_DEPTH = 4
const MOST_INPUTS = 3
/** Items in all; those that the goal does not need are there to be left alone. */
export const ITEMS = 16
const MOST_NEEDED = 12

/** A book with one way to make the goal, of the things on the way and of others. */
export function drawBook(rng: Rng): Book {
  const names = rng.shuffle(materials.flatMap((material) => shapes.map((shape) => `${material} ${shape}`)))
  const depth = LEAST_DEPTH + rng.int(MOST_DEPTH - LEAST_DEPTH + 1)
  const items: Item[] = []
  const goal = addItem(items, names, depth, MOST_NEEDED, rng)
  while (items.length < ITEMS) {
    // Some can be gathered, some are made of things that may be needed elsewhere.
    const inputs =
      rng.int(2) === 0
        ? []
        : rng
            .shuffle(items)
            .slice(0, 1 + rng.int(2))
            .map(({ name }) => name)
    items.push({ name: take(names), inputs })
  }
  return { items: rng.shuffle(items), goal, depth }
}

/** An item that takes so many recipes one after the other, and everything that it is made of. */
function addItem(items: Item[], names: string[], depth: number, most: number, rng: Rng): string {
  const name = take(names)
  if (depth === 0) {
    items.push({ name, inputs: [] })
    return name
  }
  const inputs = [addItem(items, names, depth - 1, most - 1, rng)]
  const wanted = 1 + rng.int(MOST_INPUTS)
  while (inputs.length < wanted) {
    // A branch of depth n needs n + 1 items at least, and the items above this one need theirs.
    const room = most - depth - items.length
    const branch = rng.int(depth)
    if (room < 1) break
    inputs.push(addItem(items, names, room > branch + 1 ? branch : 0, most, rng))
  }
  items.push({ name, inputs: rng.shuffle(inputs) })
  return name
}

function take(names: string[]): string {
  const name = names.pop()
  if (name === undefined) throw new Error('fewer names than items')
  return name
}

/** Calls of a player who makes no mistake: each recipe is read and followed, and what it starts from is gathered. */
export function callsNeeded({ items, goal }: Book): number {
  const item = items.find(({ name }) => name === goal)
  if (item === undefined || item.inputs.length === 0) return 1
  return item.inputs.reduce((sum, input) => sum + callsNeeded({ items, goal: input, depth: 0 }), 2)
}
