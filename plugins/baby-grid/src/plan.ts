/** How a mission is carried out by someone who sees all rooms. */
import { isDone, type Mission } from './mission.ts'
import { distancesToFace } from './routes.ts'
import { canPerform, perform, type Skill } from './skills.ts'
import {
  canOpen,
  carriedThing,
  copyOf,
  type Door,
  type Item,
  isCarried,
  roomOf,
  type Thing,
  type World,
} from './world.ts'

export type Call = { skill: Skill; item: Item | null }

/** More than any mission needs. */
const MOST_CALLS = 20

/** What to call next, or null if things that were put down are in the way. */
export function nextCall(world: World, mission: Mission): Call | null {
  return new Planner(world).next(mission)
}

/** Calls from here to the end; infinitely many if there is no way. */
export function callsTo(world: World, mission: Mission): number {
  const copy = copyOf(world)
  for (let calls = 0; calls <= MOST_CALLS; calls += 1) {
    if (isDone(copy, mission)) return calls
    const call = nextCall(copy, mission)
    if (call === null || perform(copy, call.skill, call.item) === null) break
  }
  return Number.POSITIVE_INFINITY
}

/** The closed door of the room that an item is in. */
export function closedDoorTo({ doors }: World, { cell }: Item): Door | undefined {
  return doors.find(({ room, state }) => room === roomOf(cell) && state !== 'open')
}

class Planner {
  readonly #world: World
  readonly #distances: Int8Array

  constructor(world: World) {
    this.#world = world
    this.#distances = distancesToFace(world)
  }

  next(mission: Mission): Call | null {
    const { things, doors } = this.#world
    switch (mission.kind) {
      case 'go':
        return this.#callAt('go_to', things[mission.thing])
      case 'fetch':
        return this.#fetch(things[mission.thing])
      case 'open':
        return this.#open(doors[mission.door])
      case 'put': {
        const [thing, beside] = [things[mission.thing], things[mission.beside]]
        if (!isCarried(thing)) return this.#fetch(thing)
        const isPossible = canPerform(this.#world, this.#distances, 'put_next_to', beside)
        return isPossible ? { skill: 'put_next_to', item: beside } : this.#openWayTo(beside)
      }
    }
  }

  #fetch(thing: Thing): Call | null {
    if (carriedThing(this.#world) === undefined) return this.#callAt('pick_up', thing)
    // A key may have to open the door to the thing before it is put down.
    return this.#isReachable(thing) ? { skill: 'put_down', item: null } : this.#openWayTo(thing)
  }

  #open(door: Door): Call | null {
    if (canOpen(this.#world, door)) return this.#callAt('open', door)
    const key = this.#world.things.find(({ kind, color }) => kind === 'key' && color === door.color)
    return key === undefined ? null : this.#fetch(key)
  }

  /** Something to be done in front of an item, or the opening of the way there. */
  #callAt(skill: Skill, item: Item): Call | null {
    return this.#isReachable(item) ? { skill, item } : this.#openWayTo(item)
  }

  #openWayTo(item: Item): Call | null {
    const door = closedDoorTo(this.#world, item)
    return door === undefined ? null : this.#open(door)
  }

  #isReachable({ cell }: Item): boolean {
    return this.#distances[cell] >= 0
  }
}
