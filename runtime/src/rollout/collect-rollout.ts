import assert from 'node:assert'
import { type SampledActions, type SamplingRequest, sampleActions } from '@agentgym/agent/engine'
import { AgentGymError, type PolicySpec } from '@agentgym/contract'
import { MAX_METRICS, TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { exploreActions } from '../policy/epsilon-greedy.ts'
import { forgetEnded, type RolloutSession } from '../policy/policy-session.ts'
import { uniformActions } from '../policy/uniform-actions.ts'
import type { ScenarioDescription, VectorEnvironment } from '../sandbox/vector-environment.ts'
import { EpisodeColumns, EpisodeRecorder } from './episodes.ts'
import type { Exploration } from './worker-channel.ts'

type CollectorParts = {
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
  /** Made when first used: an episode's time limit may lie far beyond what episodes take. */
  readonly #steps: Step[] = []
  readonly #request: SamplingRequest
  #exploration: Exploration = null

  constructor(parts: CollectorParts) {
    const { environment, session, seed, firstEnvironment } = parts
    this.#parts = parts
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
   * number of the first vector step: with the seed it names all the random numbers of this rollout. Gives the episodes that ended. Faults of the scenario throw.
   */
  collect(startStep: number, exploration: Exploration = null): EpisodeColumns {
    this.#exploration = exploration
    const { environment, segment } = this.#parts
    const { buffers } = environment
    const episodes = new EpisodeColumns()
    segment.observations.set(buffers.observations)
    this.#keepStates()
    for (let t = 0; t < segment.steps; t++) {
      const step = this.#step(t)
      this.#play(step, startStep + t)
      this.recorder.record(buffers.actions, buffers.flags, buffers.episodeNumbers)
      this.#keepEnds(step, episodes)
    }
    if (episodes.count > 0) episodes.metricNames = environment.metricNames()
    return episodes
  }

  /**
   * Resets every environment to episode `episode` of its group and plays that to its end; an environment that is done
   * waits for the others. The segment has as many steps as an episode may have, and `lengths`. Random numbers are named
   * by the seed and by the step's number among all the steps that the episodes before may have had.
   */
  collectEpisodes(episode: number): EpisodeColumns {
    const { environment, segment } = this.#parts
    const { lengths } = segment
    assert(lengths !== null, 'the segment is for episodes')
    const episodes = new EpisodeColumns()
    environment.reset(episode)
    segment.observations.set(environment.buffers.observations)
    this.#parts.session.state?.fill(0)
    this.#keepStates()
    for (let t = 0; episodes.count < environment.environments; t++) {
      assert(t < segment.steps, 'the time limit ends every episode')
      const step = this.#step(t)
      this.#play(step, episode * segment.steps + t)
      this.#keepEnds(step, episodes)
      for (let i = 0; i < lengths.length; i++) {
        if ((step.flags[i] & (TERMINATED | TRUNCATED)) !== 0) lengths[i] = t + 1
      }
    }
    episodes.metricNames = environment.metricNames()
    return episodes
  }

  /** What the policy remembers before the first step. */
  #keepStates(): void {
    const { segment, session } = this.#parts
    if (session.state !== null) segment.states?.set(session.state)
  }

  #step(t: number): Step {
    this.#steps[t] ??= viewStep(this.#parts, t)
    return this.#steps[t]
  }

  /** One vector step: infer, sample, step, copy. */
  #play(step: Step, number: number): void {
    const { environment, session } = this.#parts
    const { buffers } = environment
    step.masks?.set(buffers.masks)
    session.run(step.observations)
    this.#request.masks = step.masks
    this.#request.key.step = number
    if (this.#exploration === null) sampleActions(this.#request, step.sampled)
    else if (this.#exploration === 'uniform') uniformActions(this.#request, step.sampled)
    else exploreActions(this.#request, this.#exploration, step.sampled)
    environment.step()
    forgetEnded(session, buffers.flags)
    step.next.set(buffers.observations)
    step.rewards.set(buffers.rewards)
    step.flags.set(buffers.flags)
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

function viewStep({ segment, environment }: CollectorParts, t: number): Step {
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

/** Of one worker. Pages that no episode is long enough to touch cost nothing, but addresses do. */
const MAX_SEGMENT_BYTES = 2 ** 33

/**
 * Shared memory for one worker's rollouts, made once; every rollout overwrites it. With `episodes`, for one episode of
 * each environment. Throws `config_invalid` where it would be more than a process can address well.
 */
export function allocateSegment(
  description: Pick<ScenarioDescription, 'sizes' | 'masked'>,
  spec: PolicySpec,
  shape: { steps: number; environments: number; episodes?: boolean },
): RolloutSegment {
  const { sizes, masked } = description
  const { steps, environments, episodes = false } = shape
  const rows = steps * environments
  const floats = (length: number) => new Float32Array(new SharedArrayBuffer(length * 4))
  const bytes = (length: number) => new Uint8Array(new SharedArrayBuffer(length))
  const actionSize = spec.action.reduce((sum, leaf) => sum + leaf.size, 0)
  assertAffordable(rows * (8 * sizes.observation + 4 * actionSize + sizes.mask + 9), steps, environments)
  return {
    steps,
    environments,
    observations: floats((rows + environments) * sizes.observation),
    finalObservations: floats(rows * sizes.observation),
    actions: floats(rows * actionSize),
    logProbabilities: floats(rows),
    rewards: floats(rows),
    flags: bytes(rows),
    masks: masked && sizes.mask > 0 ? bytes(rows * sizes.mask) : null,
    states: spec.memory === undefined ? null : floats(environments * spec.memory.units),
    lengths: episodes ? new Int32Array(new SharedArrayBuffer(environments * 4)) : null,
  }
}

function assertAffordable(bytes: number, steps: number, environments: number): void {
  if (bytes <= MAX_SEGMENT_BYTES) return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `a rollout of ${steps} steps in ${environments} environments needs ${(bytes / 2 ** 30).toFixed(1)} GiB in one rollout worker`,
    hint: 'Use fewer environments (GRPO: groups × group_size), shorter rollouts or episodes, or more rollout_workers.',
    data: { field: 'environments', bytes },
  })
}
