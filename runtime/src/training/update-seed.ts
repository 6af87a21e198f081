/** A seed of its own for every update, from the run's seed and the update's number alone (murmur3's finaliser). */
export function updateSeed(seed: number, iteration: number): number {
  let h = (seed ^ Math.imul(iteration + 1, 0x9e3779b9)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
