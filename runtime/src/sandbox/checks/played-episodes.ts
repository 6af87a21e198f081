import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { RandomActions } from '@agentgym/playing'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import { EpisodeSampler } from '../episode-sampler.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import type { VectorEnvironment } from '../vector-environment.ts'

/** What a random policy met. */
export type RandomPlay = {
  steps: number
  returns: number[]
  lengths: number[]
  terminated: number
  truncated: number
  lowestReward: number
  highestReward: number
  metrics: string[]
}

/** Plays until `episodes` have ended, `steps` vector steps are done or `timeMs` have passed. */
export function playRandomly(
  environment: VectorEnvironment,
  limits: { episodes: number; steps: number; timeMs: number },
): RandomPlay {
  const { buffers, environments } = environment
  const actions = new RandomActions(environment.description, 1)
  const play: RandomPlay = {
    steps: 0,
    returns: [],
    lengths: [],
    terminated: 0,
    truncated: 0,
    lowestReward: Infinity,
    highestReward: -Infinity,
    metrics: [],
  }
  const endMs = performance.now() + limits.timeMs
  for (let step = 0; step < limits.steps && play.returns.length < limits.episodes; step++) {
    if (performance.now() > endMs) break
    actions.fill(buffers)
    environment.step()
    for (let row = 0; row < environments; row++) noteRow(environment, row, play)
  }
  play.metrics = environment.metricNames()
  return play
}

function noteRow({ buffers }: VectorEnvironment, row: number, play: RandomPlay): void {
  const { rewards, flags, episodeReturns, episodeLengths } = buffers
  play.steps += 1
  play.lowestReward = Math.min(play.lowestReward, rewards[row])
  play.highestReward = Math.max(play.highestReward, rewards[row])
  const ended = flags[row] & (TERMINATED | TRUNCATED)
  if (ended === 0) return
  play.returns.push(episodeReturns[row])
  play.lengths.push(episodeLengths[row])
  if ((ended & TERMINATED) !== 0) play.terminated += 1
  else play.truncated += 1
}

/** An episode of random legal actions for pictures, or its first two seconds; null where it cannot be written down. */
export function sampleRandomly(environment: SandboxedEnvironment, view: ScenarioView | null): SampleEpisode | null {
  const actions = new RandomActions(environment.description, 1)
  const sampler = new EpisodeSampler(environment, { policy: 'random', view })
  const endMs = performance.now() + 2_000
  environment.reset()
  while (!sampler.done) {
    actions.fill(environment.buffers)
    sampler.before()
    environment.step()
    sampler.after()
    if (performance.now() > endMs) sampler.cut()
  }
  return sampler.episode()
}
