import { MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { type SampledActions, type SamplingRequest, sampleActions } from '../policy/action-sampling.ts'
import type { RolloutSession } from '../policy/policy-session.ts'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import { EpisodeColumns } from './episode-columns.ts'
import { EpisodeRecorder } from './episode-recorder.ts'

export type CollectorParts = {
  environment: VectorEnvironment
  session: RolloutSession
  segment: RolloutSegment
  /** Unsigned 32-bit. */
  seed: number
  /** Global number of the first environment. */
  firstEnvironment: number
}

type Step = {
  observations: Float32Array
  next: Float32Array
  final: Float32Array
  rewards: Float32Array
  flags: Uint8Array
  masks: Uint8Array | null
  sampled: SampledActions
}

/**
 * Plays rollouts of one worker's environments: one synchronous loop from observation to reward, in which nothing is
 * allocated, awaited or copied twice. The views of each step's rows are made once.
 */
export class RolloutCollector {
  readonly recorder: EpisodeRecorder
  readonly #parts: CollectorParts
  readonly #steps: Step[]
  readonly #request: SamplingRequest

  constructor(parts: CollectorParts) {
    const { environment, session, segment, seed, firstEnvironment } = parts
    this.#parts = parts
    this.#steps = Array.from({ length: segment.steps }, (_, t) => viewStep(segment, t, environment))
    this.#request = {
      spec: session.spec,
      distribution: session.distribution,
      logStd: session.logStd,
      masks: null,
      rows: environment.environments,
      key: { seed, step: 0, firstEnvironment },
    }
    this.recorder = new EpisodeRecorder(environment.environments, environment.description.sizes.action)
  }

  /**
   * Fills the segment, from where the environments stand; the session has its weights. `startStep` is the run's step
   * number of the first vector step: with the seed it names all the random numbers of this rollout. Gives the episodes
   * that ended. Faults of the scenario throw.
   */
  collect(startStep: number): EpisodeColumns {
    const { environment, session, segment } = this.#parts
    const { buffers } = environment
    const episodes = new EpisodeColumns()
    segment.observations.set(buffers.observations)
    for (let t = 0; t < this.#steps.length; t++) {
      const step = this.#steps[t]
      step.masks?.set(buffers.masks)
      session.run(step.observations)
      this.#request.masks = step.masks
      this.#request.key.step = startStep + t
      sampleActions(this.#request, step.sampled)
      environment.step()
      step.next.set(buffers.observations)
      step.rewards.set(buffers.rewards)
      step.flags.set(buffers.flags)
      this.recorder.record(buffers.actions, buffers.flags, buffers.episodeNumbers)
      this.#keepEnds(step, episodes)
    }
    if (episodes.count > 0) episodes.metricNames = environment.metricNames()
    return episodes
  }

  /** Keeps what the buffers hold only for environments whose episode ended with this step. */
  #keepEnds(step: Step, episodes: EpisodeColumns): void {
    const { environment, firstEnvironment } = this.#parts
    const { flags, finalObservations, episodeNumbers, episodeReturns, episodeLengths, metrics } = environment.buffers
    const size = environment.description.sizes.observation
    for (let i = 0; i < environment.environments; i++) {
      if ((flags[i] & (TERMINATED | TRUNCATED)) === 0) continue
      for (let column = i * size; column < (i + 1) * size; column++) step.final[column] = finalObservations[column]
      episodes.add(
        firstEnvironment + i,
        episodeNumbers[i],
        episodeReturns[i],
        episodeLengths[i],
        metrics,
        i * MAX_METRICS,
      )
    }
  }
}

function viewStep(segment: RolloutSegment, t: number, environment: VectorEnvironment): Step {
  const { environments, buffers } = environment
  const { observation, action, mask } = environment.description.sizes
  const rows = (size: number, step = t): [number, number] => [
    step * environments * size,
    (step + 1) * environments * size,
  ]
  return {
    observations: segment.observations.subarray(...rows(observation)),
    next: segment.observations.subarray(...rows(observation, t + 1)),
    final: segment.finalObservations.subarray(...rows(observation)),
    rewards: segment.rewards.subarray(...rows(1)),
    flags: segment.flags.subarray(...rows(1)),
    masks: segment.masks?.subarray(...rows(mask)) ?? null,
    sampled: {
      actions: segment.actions.subarray(...rows(action)),
      environmentActions: buffers.actions,
      logProbabilities: segment.logProbabilities.subarray(...rows(1)),
    },
  }
}
