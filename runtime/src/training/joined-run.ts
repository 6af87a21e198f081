import { AgentGymError } from '@agentgym/contract'
import type { Ranks } from '../learner/ranks.ts'
import type { Algorithm, Iteration } from './algorithm.ts'
import type { EpisodeSnapshot } from './checkpoint.ts'
import type { EpisodeResult } from './run-statistics.ts'

/** An episode that ended, with where it was played. */
type PlacedEpisode = EpisodeResult & { environment: number; episode: number }

/** What the processes tell each other of an iteration. */
export type OwnIteration = Pick<Iteration, 'steps' | 'collectSeconds' | 'updateSeconds'> & {
  gradientSeconds: number
  sharedSeconds: number
}
type SharedIteration = { own: OwnIteration; episodes: PlacedEpisode[] }

export function isRankLost(error: unknown): boolean {
  return error instanceof AgentGymError && error.code === 'rank_lost'
}

/** How several processes share the decisions of a run, as one of them sees it. */
export type JoinedRun = {
  ranks: Ranks
  algorithm(own: Algorithm): Algorithm
  /** What all do after an iteration: a stop that one machine requests holds for all; the first process's clock is the run's. */
  agree<Next extends { stop: boolean }>(own: Next): Promise<Next>
}

export function joinRun(ranks: Ranks, options: JoinOptions): JoinedRun {
  return {
    ranks,
    algorithm: (own) => joinAlgorithm(own, ranks, options),
    async agree(own) {
      const all = await ranks.share(own)
      return { ...all[0], stop: all.some(({ stop }) => stop) }
    },
  }
}

type JoinOptions = {
  /** Whether an iteration's steps are those of its process, not of all. */
  stepsAreOwn: boolean
  /** Takes how long each process took for an iteration. */
  measured(iterations: OwnIteration[]): void
}

/**
 * An algorithm that several processes run together, as the training loop of each of them sees it: all see the episodes of
 * all. The learner has added up their gradients by then.
 */
function joinAlgorithm(algorithm: Algorithm, ranks: Ranks, { stepsAreOwn, measured }: JoinOptions): Algorithm {
  /** By environment: the episode that is under way. */
  const underWay = new Map<number, number>()
  const snapshot = async (): Promise<EpisodeSnapshot[]> => {
    const own = await algorithm.snapshot()
    try {
      return (await ranks.share(own)).flat()
    } catch (error) {
      if (!isRankLost(error)) throw error
      return withLost(own, underWay, ranks.place)
    }
  }
  return {
    stepsTotal: algorithm.stepsTotal,
    async iterate(place) {
      const iteration = await algorithm.iterate(place)
      const shared = await shareIteration(iteration, ranks)
      const episodes = shared.flatMap((one) => one.episodes)
      for (const { environment, episode } of episodes) {
        underWay.set(environment, Math.max(episode + 1, underWay.get(environment) ?? 0))
      }
      const steps = stepsAreOwn ? shared.reduce((sum, { own }) => sum + own.steps, 0) : iteration.steps
      measured(shared.map(({ own }) => own))
      return { ...iteration, steps, episodes }
    },
    snapshot,
    async restore(episodes) {
      for (const { environment, episode } of episodes) underWay.set(environment, episode)
      await algorithm.restore(episodes)
    },
  }
}

/** Of all processes. Where one was lost after the update, which counts: of this one alone; the next call will notice. */
async function shareIteration(iteration: Iteration, ranks: Ranks): Promise<SharedIteration[]> {
  const { steps, collectSeconds, updateSeconds, metrics } = iteration
  const seconds = { gradientSeconds: metrics.gradientSeconds ?? 0, sharedSeconds: metrics.sharedSeconds ?? 0 }
  // The rollout pool's episodes say where they were played.
  const episodes = iteration.episodes as PlacedEpisode[]
  const shared: SharedIteration = { own: { steps, collectSeconds, updateSeconds, ...seconds }, episodes }
  try {
    return await ranks.share(shared)
  } catch (error) {
    if (!isRankLost(error)) throw error
    return [shared]
  }
}

/** Environments of other processes begin the episode that was under way anew. */
function withLost(
  own: EpisodeSnapshot[],
  underWay: ReadonlyMap<number, number>,
  { firstEnvironment, environments, allEnvironments }: Ranks['place'],
): EpisodeSnapshot[] {
  if (own.length === 0) return own
  const units = own[0].state?.length
  return Array.from({ length: allEnvironments }, (_, environment) => {
    const at = environment - firstEnvironment
    if (at >= 0 && at < environments) return own[at]
    const state = units === undefined ? {} : { state: new Float32Array(units) }
    return { environment, episode: underWay.get(environment) ?? 0, actions: new Float32Array(0), ...state }
  })
}
