import type { Rng } from '@agentgym/scenario'

/** Squares along one side: rooms on odd coordinates, between them walls or passages, around them a wall. */
export const SIZE = 11
const ROOMS = (SIZE - 1) / 2
/** Chance that a wall between two rooms is left out, which makes loops. */
const LOOP_CHANCE = 0.1

/** Columns and rows of one step, in the order of the actions: up, right, down, left. */
const DIRECTIONS = [
  { dx: 0, dy: -1 },
  { dx: 1, dy: 0 },
  { dx: 0, dy: 1 },
  { dx: -1, dy: 0 },
] as const
/** The same as differences between square numbers. */
export const MOVES = DIRECTIONS.map(({ dx, dy }) => dy * SIZE + dx)

/** Squares are numbered row by row. */
export type Maze = {
  /** 1 where one can walk, 0 for a wall. */
  open: Uint8Array
  start: number
  goal: number
  /** Steps of a shortest way from start to goal. */
  shortest: number
}

/**
 * Carves a maze by depth-first search with random choices (the "recursive backtracker"): every room can be reached from
 * every other, by long winding corridors. The goal is one of the rooms at least half as far from the start as the
 * farthest.
 */
export function generateMaze(rng: Rng): Maze {
  const open = new Uint8Array(SIZE * SIZE)
  const start = roomSquare(rng.int(ROOMS), rng.int(ROOMS))
  open[start] = 1
  const path = [start]
  while (path.length > 0) {
    const square = path[path.length - 1]
    const uncarved = MOVES.filter((move, direction) => hasRoom(square, direction) && open[square + 2 * move] === 0)
    if (uncarved.length === 0) {
      path.pop()
      continue
    }
    const move = rng.pick(uncarved)
    open[square + move] = 1
    open[square + 2 * move] = 1
    path.push(square + 2 * move)
  }
  openLoops(open, rng)

  const distance = distancesFrom(open, start)
  const rooms: number[] = []
  for (let y = 0; y < ROOMS; y += 1) for (let x = 0; x < ROOMS; x += 1) rooms.push(roomSquare(x, y))
  const farthest = Math.max(...rooms.map((room) => distance[room]))
  const goal = rng.pick(rooms.filter((room) => distance[room] >= farthest / 2))
  return { open, start, goal, shortest: distance[goal] }
}

/**
 * Which split a maze belongs to. It depends on the maze alone, so no maze that training shows can be met in evaluation,
 * however many of each are generated: walls, start and goal are hashed, and one in four is for training.
 */
export function splitOf({ open, start, goal }: Pick<Maze, 'open' | 'start' | 'goal'>): 'train' | 'eval' {
  // FNV-1a, then MurmurHash3's finalizer.
  let hash = 0x811c9dc5
  for (const value of [...open, start, goal]) hash = Math.imul(hash ^ value, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) & 3) === 0 ? 'train' : 'eval'
}

/** The first maze of that split that the generator makes of `rng`. */
export function generateMazeOf(split: 'train' | 'eval', rng: Rng): Maze {
  for (;;) {
    const maze = generateMaze(rng)
    if (splitOf(maze) === split) return maze
  }
}

function roomSquare(x: number, y: number): number {
  return (2 * y + 1) * SIZE + 2 * x + 1
}

/** Whether there is another room in that direction, not the outer wall. */
function hasRoom(square: number, direction: number): boolean {
  const x = (square % SIZE) + 2 * DIRECTIONS[direction].dx
  const y = Math.floor(square / SIZE) + 2 * DIRECTIONS[direction].dy
  return x > 0 && y > 0 && x < SIZE && y < SIZE
}

function openLoops(open: Uint8Array, rng: Rng): void {
  for (let y = 1; y < SIZE - 1; y += 1) {
    for (let x = 1; x < SIZE - 1; x += 1) {
      // Squares between two rooms have one odd and one even coordinate.
      if ((x + y) % 2 === 1 && rng() < LOOP_CHANCE) open[y * SIZE + x] = 1
    }
  }
}

/** Steps from `start` to every square, by breadth-first search; -1 for walls. */
export function distancesFrom(open: Uint8Array, start: number): Int16Array {
  const distance = new Int16Array(open.length).fill(-1)
  distance[start] = 0
  const queue = [start]
  for (const square of queue) {
    for (const move of MOVES) {
      const next = square + move
      if (open[next] === 1 && distance[next] === -1) {
        distance[next] = distance[square] + 1
        queue.push(next)
      }
    }
  }
  return distance
}
