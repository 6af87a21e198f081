import { RandomActions } from '@agentgym/playing'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { VectorEnvironment } from '../vector-environment.ts'

/** Environments whose episodes are compared in two processes. */
export const COMPARED_ENVIRONMENTS = 4
/** Whole episodes of each. */
const EPISODES = 2
const MOST_STEPS = 20_000
const BUDGET_MS = 2_000

/** What was played: one hash a vector step and environment, over everything up to there. */
export type ComparedEpisodes = { steps: number; episodes: number; hashes: Int32Array }

/**
 * Plays random actions from a fixed seed until every environment has ended two episodes, within a budget; or exactly the
 * `steps` of the first process, in the second.
 */
export function playCompared(environment: VectorEnvironment, steps?: number): ComparedEpisodes {
  const { buffers, description, environments } = environment
  const policy = new RandomActions(description, 6)
  const running = new Int32Array(environments)
  const ended = new Int32Array(environments)
  const hashes: number[] = []
  const endMs = performance.now() + BUDGET_MS
  const most = steps ?? MOST_STEPS
  environment.reset()
  for (let row = 0; row < environments; row++) running[row] = hashRow(environment, row, running[row])
  hashes.push(...running)
  let step = 0
  for (; step < most; step++) {
    if (steps === undefined && (performance.now() > endMs || ended.every((count) => count >= EPISODES))) break
    policy.fill(buffers)
    environment.step()
    for (let row = 0; row < environments; row++) {
      running[row] = hashRow(environment, row, running[row])
      if ((buffers.flags[row] & (TERMINATED | TRUNCATED)) !== 0) ended[row] += 1
    }
    hashes.push(...running)
  }
  const episodes = ended.reduce((sum, count) => sum + count, 0)
  return { steps: step, episodes, hashes: Int32Array.from(hashes) }
}

/** Undefined where a process sent something else: the scenario may have taken it over. */
export function readCompared(played: ComparedEpisodes): ComparedEpisodes | undefined {
  const { steps, episodes, hashes } = played
  const counts = Number.isSafeInteger(steps) && steps >= 0 && steps <= MOST_STEPS && Number.isSafeInteger(episodes)
  const whole = hashes instanceof Int32Array && hashes.length === (steps + 1) * COMPARED_ENVIRONMENTS
  return counts && whole ? { steps, episodes, hashes } : undefined
}

/** Where two processes part; undefined where they played the same. */
export function partedAt(
  one: Int32Array,
  other: Int32Array,
  environments = COMPARED_ENVIRONMENTS,
): { step: number; environment: number } | undefined {
  const at = one.findIndex((hash, index) => hash !== other[index])
  if (at < 0) return undefined
  return { step: Math.floor(at / environments), environment: at % environments }
}

/** Of everything that an environment shows: it goes into one hash with what came before. */
export function hashRow({ buffers, description }: VectorEnvironment, row: number, before: number): number {
  const { observation, mask, text } = description.sizes
  const { observations, finalObservations, texts, finalTexts, rewards, flags, masks, episodeReturns } = buffers
  let hash = hashWords(before, observations, row * observation, observation)
  for (let i = 0; i < text; i++) hash = mix(hash, texts[row * text + i])
  hash = hashWords(hash, rewards, row, 1)
  for (let i = 0; i < mask; i++) hash = mix(hash, masks[row * mask + i])
  hash = mix(hash, flags[row])
  if ((flags[row] & (TERMINATED | TRUNCATED)) === 0) return hash
  hash = hashWords(hash, finalObservations, row * observation, observation)
  for (let i = 0; i < text; i++) hash = mix(hash, finalTexts[row * text + i])
  return hashWords(hash, Float32Array.of(episodeReturns[row]), 0, 1)
}

function hashWords(before: number, values: Float32Array, from: number, count: number): number {
  const words = new Int32Array(values.buffer, values.byteOffset + from * 4, count)
  let hash = before
  for (let i = 0; i < count; i++) hash = mix(hash, words[i])
  return hash
}

/** MurmurHash3's block. */
function mix(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  const h = hash ^ k
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
}
