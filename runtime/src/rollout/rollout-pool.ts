import assert from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import type { MessagePort } from 'node:worker_threads'
import type { EncodedText, EncoderSet, EncodingCounts, ExecutionProvider } from '@agentgym/agent/engine'
import type { PolicySpec, ScenarioLogs } from '@agentgym/contract'
import type { EnvironmentSource } from '../external/external-source.ts'
import type { RolloutSegment } from '../learner/learner-types.ts'
import { parameterLayout } from '../policy/parameter-layout.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import { type EnvironmentSnapshot, EpisodeColumns, type EpisodeRecord } from './episodes.ts'
import { type Exploration, WorkerChannel, type WorkerRequest } from './worker-channel.ts'

export type PoolOptions = {
  scenario: EnvironmentSource
  /** Connects a thread to the thread of the sockets, for environments of a process of the user's. */
  connect?: () => MessagePort
  /** Over all workers. */
  environments: number
  /** Their numbers begin with this: others are played by other processes. */
  firstEnvironment?: number
  /** Environments that play the same episodes, for `collectEpisodes`; left out: none, for `collect`. */
  groupSize?: number
  /** Unsigned 32-bit: the environments' and the sampled actions' randomness. */
  seed: number
  limits?: Partial<JobLimits>
  /** Keeps the texts of what the scenario logs; else calls are only counted. */
  keepLogs?: boolean
}

export type PoolConfiguration = {
  spec: PolicySpec
  /** Vector steps in one rollout; for whole episodes the scenario's time limit. */
  rolloutSteps: number
  executionProvider?: ExecutionProvider
  /** For the texts that a sentence encoder reads; left out: there is none. */
  encoders?: EncoderSet
}

export type Rollout = { segments: RolloutSegment[]; episodes: EpisodeRecord[] }

type CollectRequest =
  | Omit<Extract<WorkerRequest, { type: 'collect' }>, 'learned'>
  | Omit<Extract<WorkerRequest, { type: 'collectEpisodes' }>, 'learned'>

/** Environments of each worker: contiguous, as even as can be. */
export function splitEnvironments(
  environments: number,
  workers: number,
): { environments: number; firstEnvironment: number }[] {
  return Array.from({ length: workers }, (_, i) => {
    const firstEnvironment = Math.floor((i * environments) / workers)
    return { firstEnvironment, environments: Math.floor(((i + 1) * environments) / workers) - firstEnvironment }
  })
}

/**
 * Threads that play the scenario side by side. Used in this order: `spawn` (before the process is locked down), `open`
 * (loads the guest), `configure`, perhaps `restore`, then `collect` again and again. What an environment does depends on
 * its global number, not on the worker that plays it. After an error only `close` is left.
 */
export class RolloutPool {
  /** Texts of all rollouts that a sentence encoder reads, and how many had to be encoded. */
  readonly encoding: EncodingCounts = { texts: 0, encoded: 0 }
  readonly #channels: WorkerChannel[]
  #active: WorkerChannel[] = []
  #split: { environments: number; firstEnvironment: number }[] = []
  #segments: RolloutSegment[] = []
  #weights: Float32Array = new Float32Array(0)
  /** What each worker encoded in the rollout before: the others need not. */
  #encoded: EncodedText[][] = []

  private constructor(
    workers: number,
    onBoard: (worker: number, board: Int32Array) => void,
    onLogs: (logs: ScenarioLogs) => void,
  ) {
    this.#channels = Array.from(
      { length: workers },
      (_, worker) => new WorkerChannel({ onBoard: (board) => onBoard(worker, board), onLogs }),
    )
  }

  /**
   * Starts `workers` threads and waits until each has imported all it needs. `onBoard` gets the board of each thread's
   * guest (indices BOARD_… of the engine) before the guest runs: shared memory, readable while the thread hangs.
   * `onLogs` gets what the scenario has logged in one of them, after each rollout and before a fault.
   */
  static async spawn(
    workers: number,
    onBoard: (worker: number, board: Int32Array) => void = () => {},
    onLogs: (logs: ScenarioLogs) => void = () => {},
  ): Promise<RolloutPool> {
    const pool = new RolloutPool(workers, onBoard, onLogs)
    await Promise.all(pool.#channels.map((channel) => channel.ready()))
    return pool
  }

  /** Loads the scenario in every thread; there are never more threads at work than environments. */
  async open({
    scenario,
    connect,
    environments,
    firstEnvironment = 0,
    groupSize,
    seed,
    limits = {},
    keepLogs = false,
  }: PoolOptions): Promise<ScenarioDescription> {
    this.#active = this.#channels.slice(0, environments)
    this.#split = splitEnvironments(environments, this.#active.length).map((part) => ({
      ...part,
      firstEnvironment: firstEnvironment + part.firstEnvironment,
    }))
    const opened = await Promise.all(
      this.#active.map((channel, i) => {
        const link = connect?.() ?? null
        const open = { scenario, link, seed, limits, keepLogs, groupSize: groupSize ?? null, ...this.#split[i] }
        return channel.ask({ type: 'open', ...open }, 'opened')
      }),
    )
    const [{ description }] = opened
    assert(
      opened.every((other) => isDeepStrictEqual(other.description, description)),
      'every thread loads the same scenario',
    )
    return description
  }

  /** Makes sessions and shared memory, and resets every environment; again, too, after rollouts. */
  async configure({ spec, rolloutSteps, executionProvider = 'cpu', encoders = {} }: PoolConfiguration): Promise<void> {
    const { totalSize } = parameterLayout(spec)
    this.#weights = new Float32Array(new SharedArrayBuffer(totalSize * 4))
    const weights = this.#weights
    const request = { type: 'configure', spec, rolloutSteps, executionProvider, encoders, weights } as const
    const configured = await Promise.all(this.#active.map((channel) => channel.ask(request, 'configured')))
    this.#segments = configured.map(({ segment }) => segment)
  }

  /**
   * Plays one rollout with these weights. `startStep` is the run's step number of its first step; rollouts of one run
   * must not overlap in them. The segments are the same memory every time. Faults of the scenario reject with an
   * AgentGymError that names it, the environment and the step.
   */
  collect(weights: Float32Array, startStep: number, exploration: Exploration = null): Promise<Rollout> {
    return this.#collect(weights, { type: 'collect', startStep, exploration })
  }

  /**
   * Plays episode `episode` of every group with these weights, once in each environment, to its end. What becomes of the
   * segments and of faults is as in `collect`. Nothing of an earlier rollout has any influence.
   */
  collectEpisodes(weights: Float32Array, episode: number): Promise<Rollout> {
    return this.#collect(weights, { type: 'collectEpisodes', episode })
  }

  async #collect(weights: Float32Array, request: CollectRequest): Promise<Rollout> {
    this.#weights.set(weights)
    const replies = await Promise.all(
      this.#active.map((channel, i) => {
        const learned = this.#encoded.flatMap((texts, other) => (other === i ? [] : texts))
        return channel.ask({ ...request, learned }, 'collected')
      }),
    )
    this.#encoded = replies.map(({ encoded }) => encoded)
    for (const { encoding } of replies) {
      this.encoding.texts += encoding.texts
      this.encoding.encoded += encoding.encoded
    }
    return { segments: this.#segments, episodes: replies.flatMap(({ episodes }) => EpisodeColumns.unpack(episodes)) }
  }

  /** The running episodes of all environments, in order of their numbers. */
  async snapshot(): Promise<EnvironmentSnapshot[]> {
    const replies = await Promise.all(this.#active.map((channel) => channel.ask({ type: 'snapshot' }, 'snapshots')))
    return replies.flatMap(({ snapshots }) => snapshots)
  }

  /** Puts every environment where a snapshot found it, also with another number of workers. */
  async restore(snapshots: EnvironmentSnapshot[]): Promise<void> {
    const parts = this.#split.map(({ firstEnvironment, environments }) =>
      snapshots.filter(
        ({ environment }) => environment >= firstEnvironment && environment < firstEnvironment + environments,
      ),
    )
    await Promise.all(
      this.#active.map((channel, i) => channel.ask({ type: 'restore', snapshots: parts[i] }, 'restored')),
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.#channels.map((channel) => channel.close()))
  }
}
