/** Three rooms in a row, what is in them, and what the robot does to it. */
export const colors = ['red', 'green', 'blue', 'yellow'] as const
export const kinds = ['ball', 'box', 'key'] as const
export type Color = (typeof colors)[number]
export type Kind = (typeof kinds)[number]

/** Columns of a room. */
export const ROOM = 4
export const HEIGHT = 4
/** Rooms 0, 1 and 2, with a wall of one column between two. */
export const WIDTH = 3 * ROOM + 2
export const CELLS = WIDTH * HEIGHT

export type Thing = {
  readonly color: Color
  readonly kind: Kind
  /** Where it stands; -1 while it is carried. */
  cell: number
}
export type Door = {
  readonly color: Color
  cell: number
  /** The room behind it, as seen from the middle. */
  readonly room: 0 | 2
  state: 'open' | 'closed' | 'locked'
}

export type Item = Thing | Door

/** Directions: 0 right, 1 down, 2 left, 3 up. */
export type World = {
  things: Thing[]
  doors: Door[]
  cell: number
  direction: number
}

/** Movements of the robot. */
export const LEFT = 0
export const RIGHT = 1
export const FORWARD = 2

export function cellAt(x: number, y: number): number {
  return y * WIDTH + x
}

export function isThing(item: Item): item is Thing {
  return 'kind' in item
}

export function isCarried({ cell }: Item): boolean {
  return cell === -1
}

/** "red ball", "green door"; no two items of a world have the same name. */
export function nameOf(item: Item): string {
  return `${item.color} ${isThing(item) ? item.kind : 'door'}`
}

export function copyOf(world: World): World {
  return {
    ...world,
    things: world.things.map((thing) => ({ ...thing })),
    doors: world.doors.map((door) => ({ ...door })),
  }
}

/** Room of a cell; null for a wall or a door. */
export function roomOf(cell: number): number | null {
  const x = cell % WIDTH
  return x % (ROOM + 1) === ROOM ? null : Math.floor(x / (ROOM + 1))
}

/** The next cell in a direction, or -1 outside. */
export function neighbor(cell: number, direction: number): number {
  return neighbors[cell * 4 + direction]
}

/** Looked up, because routes ask for them all the time. */
const neighbors = Int8Array.from({ length: CELLS * 4 }, (_, pose) => {
  const [cell, direction] = [pose >> 2, pose & 3]
  const x = (cell % WIDTH) + [1, 0, -1, 0][direction]
  const y = Math.floor(cell / WIDTH) + [0, 1, 0, -1][direction]
  return x < 0 || x >= WIDTH || y < 0 || y >= HEIGHT ? -1 : cellAt(x, y)
})

export function areNeighbors(a: number, b: number): boolean {
  if (a < 0 || b < 0) return false
  const dx = Math.abs((a % WIDTH) - (b % WIDTH))
  return dx + Math.abs(Math.floor(a / WIDTH) - Math.floor(b / WIDTH)) === 1
}

export function carriedThing({ things }: World): Thing | undefined {
  return things.find(isCarried)
}

/** For each cell, 1 if the robot can stand there. */
export function freeCells({ things, doors }: World): Uint8Array {
  const free = Uint8Array.from(floor)
  for (const { cell } of things) if (cell >= 0) free[cell] = 0
  for (const { cell, state } of doors) free[cell] = Number(state === 'open')
  return free
}

const floor = Uint8Array.from({ length: CELLS }, (_, cell) => Number(roomOf(cell) !== null))

/** A room is seen from the middle through its open door. */
export function isSeen({ doors }: World, cell: number): boolean {
  const door = doors.find(({ room }) => room === roomOf(cell))
  return door === undefined || door.state === 'open'
}

/** Whether a thing can be put there: on free floor, and not beside a door, so that doors stay passable. */
export function canHold({ things, doors }: World, cell: number): boolean {
  return (
    floor[cell] === 1 &&
    !things.some((thing) => thing.cell === cell) &&
    !doors.some((door) => areNeighbors(cell, door.cell))
  )
}

export function front({ cell, direction }: World): number {
  return neighbor(cell, direction)
}

/** Follows a route. */
export function walk(world: World, route: readonly number[]): void {
  for (const movement of route) {
    if (movement === LEFT) world.direction = (world.direction + 3) % 4
    else if (movement === RIGHT) world.direction = (world.direction + 1) % 4
    else world.cell = front(world)
  }
}

/** Whether the robot can open the door: locked ones need a key of their color in its hand. */
export function canOpen(world: World, { state, color }: Door): boolean {
  const carried = carriedThing(world)
  return state === 'closed' || (state === 'locked' && carried?.kind === 'key' && carried.color === color)
}
