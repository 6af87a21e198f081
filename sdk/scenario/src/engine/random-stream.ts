import {
  append,
  cos,
  defineValue,
  floor,
  imul,
  isArray,
  isInteger,
  log,
  objectFreeze,
  PI,
  PlainRangeError,
  PlainTypeError,
  sqrt,
} from './primordials.ts'

/** What an episode's stream is for; streams of different purposes are independent. */
export const PURPOSE_RNG = 0
export const PURPOSE_MATH_RANDOM = 1
export const PURPOSE_TASK = 2
export const PURPOSE_ORACLE = 3
export const PURPOSE_ORACLE_MATH_RANDOM = 4
export const PURPOSE_LEVEL = 5
export const PURPOSE_RULES = 6
export const PURPOSE_RULES_MATH_RANDOM = 7

export const SPLIT_TRAIN = 0
export const SPLIT_EVAL = 1
/** Held-out episodes apart from those of evaluations. */
export const SPLIT_APART = 2

const WARM_UP_ROUNDS = 12

/** MurmurHash3 (x86, 32 bits), one block. */
function mixWord(hash: number, word: number): number {
  let k = imul(word, 0xcc9e2d51)
  k = (k << 15) | (k >>> 17)
  k = imul(k, 0x1b873593)
  const h = hash ^ k
  return (imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}

/** MurmurHash3's finaliser: every input bit changes every output bit with probability near one half. */
export function finalizeHash(hash: number): number {
  let h = hash
  h = imul(h ^ (h >>> 16), 0x85ebca6b)
  h = imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/**
 * What an environment's streams have in common: three independent hashes of (seed, split, environment). 96 bits, so
 * that two episodes of a run do not share a stream by accident.
 */
export class StreamKey {
  readonly a: number
  readonly b: number
  readonly c: number

  constructor(seed: number, split: number, environment: number) {
    const high = floor(seed / 4294967296)
    this.a = mixWord(mixWord(mixWord(startLane(0x243f6a88, high), seed), split), environment)
    this.b = mixWord(mixWord(mixWord(startLane(0x85a308d3 | 0, high), seed), split), environment)
    this.c = mixWord(mixWord(mixWord(startLane(0x13198a2e, high), seed), split), environment)
  }
}

/**
 * A seed of more than 32 bits starts its lanes elsewhere; a smaller one gives the streams that it always gave. Finalised,
 * so that two seeds which collide in one lane differ in another.
 */
function startLane(constant: number, high: number): number {
  return high === 0 ? constant : finalizeHash(mixWord(constant, high))
}

/** Hash of the key's lane, the episode and the purpose; five words, 20 bytes, in all. */
function finishLane(lane: number, episode: number, purpose: number): number {
  return finalizeHash(mixWord(mixWord(lane, episode), purpose) ^ 20)
}

/**
 * sfc32 (Chris Doty-Humphrey's Small Fast Counting generator: 128 bits of state, passes PractRand). Seeding is put off
 * to the first draw: most episodes never touch `Math.random`.
 */
export class RandomStream {
  readonly #key: StreamKey
  readonly #purpose: number
  #episode = 0
  #cold = true
  #a = 0
  #b = 0
  #c = 0
  #counter = 1

  constructor(key: StreamKey, purpose: number) {
    this.#key = key
    this.#purpose = purpose
  }

  /** Moves to an episode's stream. */
  begin(episode: number): void {
    this.#episode = episode
    this.#cold = true
  }

  #warmUp(): void {
    this.#cold = false
    this.#a = finishLane(this.#key.a, this.#episode, this.#purpose)
    this.#b = finishLane(this.#key.b, this.#episode, this.#purpose)
    this.#c = finishLane(this.#key.c, this.#episode, this.#purpose)
    this.#counter = 1
    for (let i = 0; i < WARM_UP_ROUNDS; i += 1) this.#next()
  }

  /** The next 32 bits, as a signed integer. */
  #next(): number {
    const b = this.#b
    const c = this.#c
    const result = (((this.#a + b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = b ^ (b >>> 9)
    this.#b = (c + (c << 3)) | 0
    this.#c = (((c << 21) | (c >>> 11)) + result) | 0
    return result
  }

  /** Uniform in [0, 1), 53 bits. */
  uniform(): number {
    if (this.#cold) this.#warmUp()
    return ((this.#next() >>> 5) * 67108864 + (this.#next() >>> 6)) / 9007199254740992
  }
}

/** Seeded randomness, given to `reset` and `step`. */
export type Rng = {
  /** Uniform in [0, 1). */
  (): number
  /** A uniform integer in [0, n); 1 ≤ n ≤ 2³². */
  int(n: number): number
  /** Normally distributed; `normal()` is standard normal. */
  normal(mean?: number, standardDeviation?: number): number
  /** A uniformly chosen item of a list that is not empty. */
  pick<Item>(list: readonly Item[]): Item
  /** A new list in random order; the given one stays as it is. */
  shuffle<Item>(list: readonly Item[]): Item[]
}

function requireList(list: readonly unknown[], what: string): void {
  if (!isArray(list)) throw new PlainTypeError(`${what}: the argument must be an array`)
}

/** The author's view of a stream; frozen, so that no author's code can bend another environment's. */
export function rngOf(stream: RandomStream): Rng {
  const int = (n: number): number => {
    if (!isInteger(n) || n < 1 || n > 4294967296) {
      throw new PlainRangeError('rng.int(n): n must be an integer from 1 to 4294967296')
    }
    return floor(stream.uniform() * n)
  }
  // Box and Muller (1958). Always two draws: a kept second value would be hidden state.
  const normal = (mean = 0, standardDeviation = 1): number => {
    const radius = sqrt(-2 * log(1 - stream.uniform()))
    return mean + standardDeviation * radius * cos(2 * PI * stream.uniform())
  }
  const pick = <Item>(list: readonly Item[]): Item => {
    requireList(list, 'rng.pick(list)')
    if (list.length === 0) throw new PlainRangeError('rng.pick(list): the list is empty')
    return list[int(list.length)]
  }
  // Fisher and Yates, inside out: appends only, so that the result has no holes.
  const shuffle = <Item>(list: readonly Item[]): Item[] => {
    requireList(list, 'rng.shuffle(list)')
    const shuffled: Item[] = []
    for (let i = 0; i < list.length; i += 1) {
      const j = int(i + 1)
      if (j === i) append(shuffled, list[i])
      else {
        append(shuffled, shuffled[j])
        shuffled[j] = list[i]
      }
    }
    return shuffled
  }
  const rng = () => stream.uniform()
  defineValue(rng, 'int', int)
  defineValue(rng, 'normal', normal)
  defineValue(rng, 'pick', pick)
  defineValue(rng, 'shuffle', shuffle)
  return objectFreeze(rng) as Rng
}

/** A generator of its own, for authors' tests: the same seed gives the same numbers. */
export function createRng(seed: number): Rng {
  if (!isInteger(seed) || seed < 0 || seed > 0xffffffff) {
    throw new PlainRangeError('createRng(seed): the seed must be an integer from 0 to 4294967295')
  }
  return rngOf(new RandomStream(new StreamKey(seed, SPLIT_TRAIN, 0), PURPOSE_RNG))
}
