import { type MessagePort, Worker } from 'node:worker_threads'
import type { EncodedText, EncoderSet, EncodingCounts, ExecutionProvider } from '@agentgym/agent/engine'
import { AgentGymError, type ErrorReport, type PolicySpec, type ScenarioLogs } from '@agentgym/contract'
import type { EnvironmentSource } from '../external/external-source.ts'
import type { RolloutSegment } from '../learner/learner-types.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioDescription } from '../sandbox/vector-environment.ts'
import type { EnvironmentSnapshot, PackedEpisodes } from './episodes.ts'

type Answer<Type extends WorkerReply['type']> = Extract<WorkerReply, { type: Type }>
type Pending = { resolve(reply: WorkerReply): void; reject(error: Error): void }

/** Takes what a thread tells unasked. */
type GuestObserver = { onBoard(board: Int32Array): void; onLogs(logs: ScenarioLogs): void }

/** One rollout thread as seen from the main thread: requests that are answered by promises, in order. */
export class WorkerChannel {
  readonly #worker: Worker
  readonly #observer: GuestObserver
  #pending: Pending[] = []
  #ended: Error | null = null

  constructor(observer: GuestObserver) {
    this.#observer = observer
    this.#worker = new Worker(new URL('./rollout-worker.ts', import.meta.url))
    this.#worker.on('message', (reply: WorkerReply) => this.#receive(reply))
    this.#worker.on('error', (error: Error) => this.#end(error))
    this.#worker.on('exit', (status) => this.#end(new Error(`a rollout thread ended with status ${status}`)))
  }

  /** Settles once the thread has imported everything. */
  ready(): Promise<Answer<'ready'>> {
    return this.#expect('ready')
  }

  /** Faults of the scenario reject with an AgentGymError. */
  ask<Type extends WorkerReply['type']>(request: WorkerRequest, answer: Type): Promise<Answer<Type>> {
    const reply = this.#expect(answer)
    const link = request.type === 'open' ? request.link : null
    if (this.#ended === null) this.#worker.postMessage(request, link === null ? [] : [link])
    return reply
  }

  /** Ends the thread; one that hangs in a guest cannot be ended from inside its process. */
  async close(): Promise<void> {
    if (this.#ended === null) await this.ask({ type: 'close' }, 'closed')
    await this.#worker.terminate()
  }

  #expect<Type extends WorkerReply['type']>(type: Type): Promise<Answer<Type>> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) reject(this.#ended)
      const accept = (reply: WorkerReply) => {
        if (reply.type === type) resolve(reply as Answer<Type>)
        else reject(new Error(`a rollout thread answered ${reply.type} instead of ${type}`))
      }
      this.#pending.push({ resolve: accept, reject })
    })
  }

  #receive(reply: WorkerReply): void {
    if (reply.type === 'board') {
      this.#observer.onBoard(reply.board)
      return
    }
    if (reply.type === 'logs') {
      this.#observer.onLogs(reply.logs)
      return
    }
    const pending = this.#pending.shift()
    if (reply.type === 'fault') pending?.reject(new AgentGymError(reply.error))
    else if (reply.type === 'bug') pending?.reject(new Error(reply.message))
    else pending?.resolve(reply)
  }

  #end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#pending.splice(0)) reject(this.#ended)
  }
}

/**
 * How actions are chosen. Null: sampled from the policy. A number, for policies whose distribution row is the values of the
 * actions: the best one or, with this probability, a random one. `uniform`, for policies of squashed boxes: at random.
 */
export type Exploration = number | 'uniform' | null

/** One worker's share of an opened pool. */
export type WorkerOpen = {
  scenario: EnvironmentSource
  /** To the thread of the sockets; null where the scenario runs in the sandbox. */
  link: MessagePort | null
  environments: number
  firstEnvironment: number
  /** Environments that play the same episodes; null: none do, and rollouts are cut by steps. */
  groupSize: number | null
  seed: number
  limits: Partial<JobLimits>
  /** Keeps the texts of what the scenario logs; else calls are only counted. */
  keepLogs: boolean
}

export type WorkerConfiguration = {
  spec: PolicySpec
  rolloutSteps: number
  executionProvider: ExecutionProvider
  /** Of the texts in the observations; none where no text needs one. */
  encoders: EncoderSet
  /** The flat weight buffer, shared; read at the start of every rollout. */
  weights: Float32Array
}

/** What the main thread asks; a worker answers each with one reply, in order. */
export type WorkerRequest =
  | ({ type: 'open' } & WorkerOpen)
  | ({ type: 'configure' } & WorkerConfiguration)
  /** `learned`: what other threads have encoded meanwhile. */
  | { type: 'collect'; startStep: number; exploration: Exploration; learned: EncodedText[] }
  | { type: 'collectEpisodes'; episode: number; learned: EncodedText[] }
  | { type: 'snapshot' }
  | { type: 'restore'; snapshots: EnvironmentSnapshot[] }
  | { type: 'close' }

/** `board` comes unasked, before any guest code runs, and `logs` before an answer; the rest are answers. */
export type WorkerReply =
  | { type: 'ready' }
  | { type: 'board'; board: Int32Array }
  | { type: 'logs'; logs: ScenarioLogs }
  | { type: 'opened'; description: ScenarioDescription }
  | { type: 'configured'; segment: RolloutSegment }
  | { type: 'collected'; episodes: PackedEpisodes; encoding: EncodingCounts; encoded: EncodedText[] }
  | { type: 'snapshots'; snapshots: EnvironmentSnapshot[] }
  | { type: 'restored' }
  | { type: 'closed' }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }
