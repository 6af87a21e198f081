import { IDLE, MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { EpisodeSampler } from '../sandbox/episode-sampler.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import { EpisodeHash } from './trajectory-hash.ts'

export type EpisodeOutcome = {
  return: number
  length: number
  metrics: Record<string, number>
  /** SHA-256 of the episode's trajectory. */
  digest: Uint8Array
}

/**
 * Plays the episodes of an evaluation plan and gives their outcomes in order of their numbers. Which environment plays
 * which episode is fixed beforehand, so short episodes are not over-counted. `act` fills `buffers.actions`; `sampler` sees
 * every step.
 */
export function playEpisodes(
  environment: VectorEnvironment,
  episodes: number,
  act: () => void,
  onEpisode: (done: number) => void = () => {},
  sampler?: Pick<EpisodeSampler, 'before' | 'after'>,
): EpisodeOutcome[] {
  const { buffers, description, environments } = environment
  const { actions, rewards, flags } = buffers
  const hashes = Array.from({ length: environments }, () => new EpisodeHash(description.sizes.action))
  const outcomes: EpisodeOutcome[] = new Array(episodes)
  const metricColumns: { outcome: EpisodeOutcome; values: Float64Array }[] = []
  const idle = new Uint8Array(environments)
  for (let i = episodes; i < environments; i++) idle[i] = 1
  let done = 0
  environment.reset()
  while (done < episodes) {
    act()
    sampler?.before()
    environment.step()
    sampler?.after()
    for (let i = 0; i < environments; i++) {
      if (idle[i] === 1) continue
      hashes[i].step(actions, rewards, i)
      const flag = flags[i]
      if ((flag & (TERMINATED | TRUNCATED)) !== 0) {
        const episode = buffers.episodeNumbers[i]
        const outcome = {
          return: buffers.episodeReturns[i],
          length: buffers.episodeLengths[i],
          metrics: {},
          digest: hashes[i].end(episode, flag & (TERMINATED | TRUNCATED)),
        }
        outcomes[episode] = outcome
        metricColumns.push({ outcome, values: buffers.metrics.slice(i * MAX_METRICS, (i + 1) * MAX_METRICS) })
        done += 1
        onEpisode(done)
      }
      if ((flag & IDLE) !== 0) idle[i] = 1
    }
  }
  // Names are asked for once, at the end: asking crosses into the isolate.
  const names = environment.metricNames()
  for (const { outcome, values } of metricColumns) {
    names.forEach((name, column) => {
      if (!Number.isNaN(values[column])) outcome.metrics[name] = values[column]
    })
  }
  return outcomes
}
