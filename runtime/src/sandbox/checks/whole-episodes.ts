import type { SuccessCriteria } from '@agentgym/contract'
import { MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { VectorEnvironment } from '../vector-environment.ts'

/** Episodes of each of the environments of a player that is measured. */
export const EPISODES = 12
export const ENVIRONMENTS = 8
export const BUDGET_MS = 1_500

/** Writes the next actions of all rows into `buffers.actions`. */
export type Policy = { fill(buffers: VectorEnvironment['buffers']): void }

/** What a player reached, over whole episodes. */
export type Played = {
  returns: number[]
  /** Number of each episode, which in evaluation decides its level. */
  numbers: number[]
  mean: number
  /** Means, each over the episodes that report it. */
  metrics: Record<string, number>
  lengths: number[]
  /** Episodes that reached the time limit. */
  truncated: number
}

type Ended = { number: number; total: number; length: number; truncated: boolean; metrics: Float64Array }

type Limits = {
  budgetMs: number
  /** Of each environment; with fewer there is no result. */
  leastEpisodes: number
  /** Of each environment; default: EPISODES. */
  mostEpisodes?: number
  afterStep?: () => void
}

/**
 * The same number of episodes in every environment, so that short ones are not over-counted: as many as the budget allows.
 * Null if those are fewer than `leastEpisodes`.
 */
export function playWhole(
  environment: VectorEnvironment,
  policy: Policy,
  { budgetMs, leastEpisodes, mostEpisodes = EPISODES, afterStep }: Limits = {
    budgetMs: BUDGET_MS,
    leastEpisodes: EPISODES,
  },
): Played | null {
  const { buffers, environments } = environment
  const ended = Array.from({ length: environments }, (): Ended[] => [])
  const fewest = () => Math.min(...ended.map((episodes) => episodes.length))
  const endMs = performance.now() + budgetMs
  environment.reset()
  while (fewest() < mostEpisodes && performance.now() <= endMs) {
    policy.fill(buffers)
    environment.step()
    afterStep?.()
    for (let row = 0; row < environments; row++) {
      if ((buffers.flags[row] & (TERMINATED | TRUNCATED)) !== 0) ended[row].push(endedIn(environment, row))
    }
  }
  const whole = Math.min(mostEpisodes, fewest())
  if (whole < leastEpisodes) return null
  return summary(
    ended.flatMap((list) => list.slice(0, whole)),
    environment.metricNames(),
  )
}

/** The episode that has just ended in a row. */
export function endedIn({ buffers }: VectorEnvironment, row: number): Ended {
  return {
    number: buffers.episodeNumbers[row],
    total: buffers.episodeReturns[row],
    length: buffers.episodeLengths[row],
    truncated: (buffers.flags[row] & TERMINATED) === 0,
    metrics: buffers.metrics.slice(row * MAX_METRICS, (row + 1) * MAX_METRICS),
  }
}

export function summary(episodes: readonly Ended[], names: readonly string[]): Played {
  const columns = names.map((name, column): [string, number[]] => [
    name,
    episodes.map(({ metrics }) => metrics[column]).filter((value) => !Number.isNaN(value)),
  ])
  const reported = columns.filter(([, values]) => values.length > 0)
  const returns = episodes.map(({ total }) => total)
  return {
    returns,
    numbers: episodes.map(({ number }) => number),
    mean: mean(returns),
    metrics: Object.fromEntries(reported.map(([name, values]) => [name, mean(values)])),
    lengths: episodes.map(({ length }) => length),
    truncated: episodes.filter(({ truncated }) => truncated).length,
  }
}

/** Whether a player meets every criterion; null where there is none. */
export function meets({ mean: total, metrics }: Played, success: SuccessCriteria): boolean | null {
  const values: Record<string, number> = { ...metrics, return_mean: total }
  const criteria = Object.entries(success)
  return criteria.length === 0 ? null : criteria.every(([name, least]) => values[name] >= least)
}

/** Mean return on one of `count` levels, over evaluation episodes; null where none was played to its end. */
export function levelReturn({ returns, numbers }: Played, level: number, count: number): number | null {
  const played = returns.filter((_, i) => numbers[i] % count === level)
  return played.length === 0 ? null : round(mean(played))
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function round(value: number): number {
  return Number(value.toPrecision(4))
}
