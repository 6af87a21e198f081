/** What the robot can be asked to do: each skill drives to a place and does something there. */
import { routeTo } from './routes.ts'
import { areNeighbors, canHold, canOpen, carriedThing, front, type Item, isThing, type World, walk } from './world.ts'

export type Skill = 'go_to' | 'pick_up' | 'open' | 'put_next_to' | 'put_down'

/** Which cells a skill can be done at, or null if it cannot be done with this item now. `put_down` has no item. */
function placesFor(world: World, skill: Skill, item: Item | null): ((cell: number) => boolean) | null {
  const carried = carriedThing(world)
  if (skill === 'put_down') return carried === undefined ? null : (cell) => canHold(world, cell)
  if (item === null || item === carried) return null
  const atItem = (cell: number) => cell === item.cell
  switch (skill) {
    case 'go_to':
      return item.cell === front(world) ? null : atItem
    case 'pick_up':
      return isThing(item) && carried === undefined ? atItem : null
    case 'open':
      return !isThing(item) && canOpen(world, item) ? atItem : null
    case 'put_next_to':
      if (!isThing(item) || carried === undefined) return null
      return (cell) => areNeighbors(cell, item.cell) && canHold(world, cell)
  }
}

/** Whether a skill can be done, given how far each cell is. */
export function canPerform(world: World, distances: Int8Array, skill: Skill, item: Item | null): boolean {
  const places = placesFor(world, skill, item)
  return places !== null && distances.some((distance, cell) => distance >= 0 && places(cell))
}

/** Drives there and does it; returns the seconds that it took, one a turn, step or grip, or null if it cannot be done. */
export function perform(world: World, skill: Skill, item: Item | null): number | null {
  const places = placesFor(world, skill, item)
  const route = places === null ? null : routeTo(world, places)
  if (route === null) return null
  walk(world, route)
  const carried = carriedThing(world)
  if (skill === 'pick_up' && item !== null) item.cell = -1
  else if (skill === 'open' && item !== null && !isThing(item)) item.state = 'open'
  else if (skill !== 'go_to' && carried !== undefined) carried.cell = front(world)
  return route.length + 1
}
