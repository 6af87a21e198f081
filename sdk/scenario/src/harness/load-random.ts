/** Seed of `Math.random` while a scenario loads: the same in every run, so that loading is the same too. */
const LOAD_SEED = 0x9e3779b9

/** mulberry32 (Tommy Ettinger): 32 bits of state are enough for the few draws of a module's top level. */
export function createRandom(): () => number {
  const { imul } = Math
  let state = LOAD_SEED
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
