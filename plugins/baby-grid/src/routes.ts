/** Shortest ways of the robot through what is free, counted in turns and steps. */
import { CELLS, FORWARD, isFree, LEFT, neighbor, RIGHT, type World } from './world.ts'

/** Movements, in order. */
export type Route = number[]

/** The shortest way to where the robot has a cell in front of it that is accepted, or null. */
export function routeTo(world: World, accepts: (front: number) => boolean): Route | null {
  const start = poseOf(world)
  /** How each pose was reached: the pose before it × 3 + the movement. */
  const before = new Int16Array(CELLS * 4)
  const end = search(
    world,
    (ahead) => ahead >= 0 && accepts(ahead),
    (pose, from, movement) => {
      before[pose] = from * 3 + movement
    },
  )
  if (end === null) return null
  const route: Route = []
  for (let pose = end; pose !== start; pose = Math.floor(before[pose] / 3)) route.push(before[pose] % 3)
  return route.reverse()
}

/** For each cell, how far the robot is from having it in front; -1 if it never can. */
export function distancesToFace(world: World): Int8Array {
  const distances = new Int8Array(CELLS).fill(-1)
  const lengths = new Int8Array(CELLS * 4)
  search(
    world,
    (ahead, pose) => {
      if (ahead >= 0 && distances[ahead] < 0) distances[ahead] = lengths[pose]
      return false
    },
    (pose, from) => {
      lengths[pose] = lengths[from] + 1
    },
  )
  return distances
}

/** A cell and a direction in one number. */
function poseOf({ cell, direction }: { cell: number; direction: number }): number {
  return cell * 4 + direction
}

/** Breadth first over poses; returns the first one that is accepted. `ahead` is the cell in front, or -1. */
function search(
  world: World,
  accepts: (ahead: number, pose: number) => boolean,
  reach: (pose: number, from: number, movement: number) => void,
): number | null {
  const start = poseOf(world)
  const seen = new Uint8Array(CELLS * 4)
  seen[start] = 1
  const queue = [start]
  for (const pose of queue) {
    const [cell, direction] = [pose >> 2, pose & 3]
    const ahead = neighbor(cell, direction)
    if (accepts(ahead, pose)) return pose
    const go = (movement: number, to: number) => {
      if (seen[to] === 1) return
      seen[to] = 1
      reach(to, pose, movement)
      queue.push(to)
    }
    if (isFree(world, ahead)) go(FORWARD, ahead * 4 + direction)
    go(LEFT, cell * 4 + ((direction + 3) & 3))
    go(RIGHT, cell * 4 + ((direction + 1) & 3))
  }
  return null
}
