/** Shortest ways of the robot through what is free, counted in turns and steps. */
import { CELLS, FORWARD, freeCells, LEFT, neighbor, RIGHT, type World } from './world.ts'

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
  const free = freeCells(world)
  const seen = new Uint8Array(CELLS * 4)
  const queue = new Uint8Array(CELLS * 4)
  let length = 0
  const visit = (pose: number) => {
    seen[pose] = 1
    queue[length] = pose
    length += 1
  }
  const go = (from: number, movement: number, to: number) => {
    if (seen[to] === 1) return
    reach(to, from, movement)
    visit(to)
  }
  visit(poseOf(world))
  for (let next = 0; next < length; next += 1) {
    const pose = queue[next]
    const direction = pose & 3
    const ahead = neighbor(pose >> 2, direction)
    if (accepts(ahead, pose)) return pose
    if (ahead >= 0 && free[ahead] === 1) go(pose, FORWARD, ahead * 4 + direction)
    go(pose, LEFT, (pose & ~3) + ((direction + 3) & 3))
    go(pose, RIGHT, (pose & ~3) + ((direction + 1) & 3))
  }
  return null
}
