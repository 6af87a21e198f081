/** A task from its number: rooms, doors, keys, things, and an order that can be carried out. */
import { createRng, type Rng } from '@agentgym/scenario'
import { drawOrder, missionKinds, type Order, splitOf } from './mission.ts'
import { callsTo, closedDoorTo } from './plan.ts'
import {
  areNeighbors,
  CELLS,
  cellAt,
  colors,
  type Door,
  HEIGHT,
  kinds,
  ROOM,
  roomOf,
  type Thing,
  type World,
} from './world.ts'

const THINGS = 6
/** Of a door to be locked. */
const LOCKED = 0.5
/** Missions that take fewer calls are left out: chance would carry them out. */
const LEAST_CALLS = 2
export const MOST_CALLS = 8

export type Drawn = { world: World; order: Order; calls: number }

/** Kinds of missions take turns. */
export function drawTask({ split, index }: { split: 'train' | 'eval'; index: number }): Drawn {
  const rng = createRng(split === 'train' ? index : 0x4000_0000 + index)
  for (;;) {
    const world = drawWorld(rng)
    const order = drawOrder(world, missionKinds[index % missionKinds.length], rng)
    if (splitOf(order) !== split || needsKeyToPut(world, order)) continue
    const calls = callsTo(world, order.mission)
    if (calls >= LEAST_CALLS && calls <= MOST_CALLS) return { world, order, calls }
  }
}

/** A hand that carries one thing cannot unlock the door to where it belongs. */
function needsKeyToPut(world: World, { mission }: Order): boolean {
  return mission.kind === 'put' && closedDoorTo(world, world.things[mission.beside])?.state === 'locked'
}

function drawWorld(rng: Rng): World {
  const [left, right] = rng.shuffle(colors)
  const doors = [drawDoor(left, ROOM, 0, rng), drawDoor(right, 2 * ROOM + 1, 2, rng)]
  // Nothing stands beside a door, so that things leave the way through it free.
  const floor = Array.from({ length: CELLS }, (_, cell) => cell).filter(
    (cell) => roomOf(cell) !== null && !doors.some((door) => areNeighbors(cell, door.cell)),
  )
  const cells = rng.shuffle(floor)
  const takeCell = (rooms: readonly number[]) => {
    const place = cells.findIndex((cell) => rooms.includes(roomOf(cell) ?? -1))
    return cells.splice(place, 1)[0]
  }
  const keys = doors.flatMap(({ color, state }, i): Thing[] => {
    if (state !== 'locked') return []
    // The key may be behind the other door, if that one is not locked as well.
    const other = doors[1 - i]
    return [{ color, kind: 'key', cell: takeCell(other.state === 'closed' ? [1, other.room] : [1]) }]
  })
  const rest = rng
    .shuffle(colors.flatMap((color) => kinds.map((kind) => ({ color, kind }))))
    .filter(({ color, kind }) => !keys.some((key) => key.color === color && key.kind === kind))
    .slice(0, THINGS - keys.length)
    .map((thing) => ({ ...thing, cell: takeCell([0, 1, 2]) }))
  return { things: rng.shuffle([...keys, ...rest]), doors, cell: takeCell([1]), direction: rng.int(4) }
}

function drawDoor(color: Door['color'], column: number, room: Door['room'], rng: Rng): Door {
  return { color, room, cell: cellAt(column, rng.int(HEIGHT)), state: rng() < LOCKED ? 'locked' : 'closed' }
}
