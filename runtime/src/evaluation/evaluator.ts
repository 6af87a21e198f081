import { type MessagePort, Worker } from 'node:worker_threads'
import type { EncoderSet } from '@agentgym/agent/engine'
import {
  AgentGymError,
  type ConfidenceMap,
  type Evaluation,
  type PolicySpec,
  type SampleEpisode,
  type ScenarioLogs,
  type ScenarioView,
  type SuccessCriteria,
  type TaskOrder,
} from '@agentgym/contract'
import type { PlayedEpisodes } from '@agentgym/scenario/engine'
import type { EnvironmentSource } from '../external/external-source.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { type ChoosingEpisode, choosingEpisodes, measureCalibration } from './calibration.ts'
import type { EvaluationReply, EvaluationRequest } from './evaluation-worker.ts'
import { isClearSuccess, summarize } from './summarize.ts'

export type EvaluationTask = {
  scenario: EnvironmentSource
  success: SuccessCriteria
  policy: PolicySpec
  model: Uint8Array
  /** The model is this process's own export: it need not be walked, and may be as large as training makes it. */
  ownModel?: boolean
  /** For the texts that a sentence encoder reads: the same in all evaluations of one thread. */
  encoders: EncoderSet
  episodes: number
  /** Side by side, where results need not be those of other evaluations bit for bit; by default as many as in all of them. */
  environments?: number
  /** Held-out episodes are numbered; with the seed, the number decides everything in an episode. Below 2^53. */
  seed: number
  taskOrder: TaskOrder
  /** Plays held-out episodes that none of these evaluations plays. */
  apartFrom?: readonly PlayedEpisodes[]
  /** Records the probabilities of choices: the evaluation has a `calibration` then, if there is one to be measured. */
  choices?: boolean
  /** Plays the same episodes without the agent, too: see `baselines` of the evaluation. */
  baselines?: boolean
  /** The agent's, for `calibration`. */
  confidence?: ConfidenceMap | null
  limits: JobLimits
  onEpisodes?: (done: number) => void
  /** Writes down the first episode, to be drawn so, for `onSample`. */
  sample?: { view: ScenarioView | null }
  onSample?: (episode: SampleEpisode) => void
  /** Sends what the scenario logs to `onLogs`. */
  logs?: boolean
  onLogs?: (logs: ScenarioLogs) => void
}

/** An evaluation with the return and the SHA-256 (hex) of each episode, in order; `clear`: see `isClearSuccess`. */
export type PlayedEvaluation = {
  evaluation: Evaluation
  returns: number[]
  digests: string[]
  clear: boolean | null
}

/** With the length of each episode, and its choices: null where calibration has nothing to measure. */
export type EvaluatedEpisodes = PlayedEvaluation & { lengths: number[]; choosing: ChoosingEpisode[] | null }

/** A thread that plays held-out episodes with an exported model, as `agentgym eval` and the training loop both do. */
export class Evaluator {
  readonly #worker: Worker
  readonly #connect: (() => MessagePort) | undefined

  private constructor(worker: Worker, onBoard: (board: Int32Array) => void, connect: (() => MessagePort) | undefined) {
    this.#worker = worker
    this.#connect = connect
    worker.on('message', (message: EvaluationReply) => {
      if (message.type === 'board') onBoard(message.board)
    })
  }

  /**
   * Starts the thread and lets it import everything, which must happen before the process is locked down. `connect` joins it
   * to the thread of the sockets, for environments of a process of the user's.
   */
  static async spawn(onBoard: (board: Int32Array) => void = () => {}, connect?: () => MessagePort): Promise<Evaluator> {
    const worker = new Worker(new URL('./evaluation-worker.ts', import.meta.url))
    await nextReply(worker, (message) => message.type === 'ready')
    return new Evaluator(worker, onBoard, connect)
  }

  /** One evaluation at a time. Faults of the scenario throw AgentGymError. */
  async evaluate({
    onEpisodes,
    onSample,
    onLogs,
    success,
    confidence = null,
    ...task
  }: EvaluationTask): Promise<EvaluatedEpisodes> {
    const link = this.#connect?.() ?? null
    this.#worker.postMessage({ ...task, link } satisfies EvaluationRequest, link === null ? [] : [link])
    const reply = await nextReply(this.#worker, (message) => {
      if (message.type === 'episodes') onEpisodes?.(message.done)
      if (message.type === 'logs') onLogs?.(message.logs)
      return message.type === 'outcomes'
    })
    if (reply.type !== 'outcomes') throw new Error('the evaluation thread sent no outcomes')
    const { outcomes, tasks, levels, baselines, sample } = reply
    if (sample !== null) onSample?.(sample)
    const choosing = choosingEpisodes(outcomes)
    const calibration = choosing === null ? null : measureCalibration(choosing, confidence)
    const run = { scenario: task.scenario.identity, seed: task.seed, tasks, levels, success, calibration, baselines }
    return {
      choosing,
      evaluation: summarize(outcomes, run),
      returns: outcomes.map((outcome) => outcome.return),
      lengths: outcomes.map((outcome) => outcome.length),
      clear: isClearSuccess(outcomes, success),
      digests: outcomes.map((outcome) => Buffer.from(outcome.digest).toString('hex')),
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

function nextReply(worker: Worker, wanted: (message: EvaluationReply) => boolean): Promise<EvaluationReply> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      finish()
    }
    const onMessage = (message: EvaluationReply) => {
      if (message.type === 'fault') settle(() => reject(new AgentGymError(message.error)))
      else if (message.type === 'bug') settle(() => reject(new Error(message.message)))
      else if (wanted(message)) settle(() => resolve(message))
    }
    const onError = (error: Error) => settle(() => reject(error))
    const onExit = (code: number) => settle(() => reject(new Error(`the evaluation thread ended with status ${code}`)))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}
