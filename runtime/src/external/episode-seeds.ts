/** Seeds from here up to 2^32 belong to evaluations, those below to training: no episode is in both. */
const HELD_OUT = 2 ** 31
/** What seeds of training stay below: a run's own seed is counted up by the environment's number. */
const TRAINING = HELD_OUT - 2 ** 20

/** The seed that a vector of training environments is opened with; environment i of the run has this + i. */
export function trainingSeed(seed: number): number {
  return seed % TRAINING
}

/** Of an episode of training that does not follow another: of a group, or after a run was resumed. */
export function episodeSeed(seed: number, stream: number, episode: number): number {
  return mix(mix(mix(0, seed), stream), episode) % TRAINING
}

/**
 * Of a held-out episode; `seed` has up to 53 bits. Those that a confidence is fitted on are `apart` from those that are
 * evaluated: their seeds are odd.
 */
export function heldOutSeed(seed: number, episode: number, apart = false): number {
  const high = Math.floor(seed / 2 ** 32)
  return HELD_OUT + 2 * (mix(mix(mix(1, seed), high), episode) >>> 2) + (apart ? 1 : 0)
}

/** One round of murmur3 and its finalizer; unsigned 32-bit. */
function mix(state: number, value: number): number {
  let h = (state ^ Math.imul((value >>> 0) + 1, 0x9e3779b9)) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
