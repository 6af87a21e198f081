import { Worker } from 'node:worker_threads'
import type { EncoderSet } from '@agentgym/agent/engine'
import {
  AgentGymError,
  type Evaluation,
  type PolicySpec,
  type SampleEpisode,
  type ScenarioLogs,
  type ScenarioView,
  type SuccessCriteria,
  type TaskOrder,
} from '@agentgym/contract'
import type { JobLimits } from '../sandbox/limits.ts'
import type { ScenarioCode } from '../sandbox/scenario-code.ts'
import type { EvaluationReply, EvaluationRequest } from './evaluation-worker.ts'
import { isClearSuccess, summarize } from './summarize.ts'

export type EvaluationTask = {
  scenario: ScenarioCode
  success: SuccessCriteria
  policy: PolicySpec
  model: Uint8Array
  /** The model is this process's own export: it need not be walked, and may be as large as training makes it. */
  ownModel?: boolean
  /** For the texts that a sentence encoder reads: the same in all evaluations of one thread. */
  encoders: EncoderSet
  episodes: number
  /** Held-out episodes are numbered; with the seed, the number decides everything in an episode. Below 2^53. */
  seed: number
  taskOrder: TaskOrder
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

/** A thread that plays held-out episodes with an exported model, as `agentgym eval` and the training loop both do. */
export class Evaluator {
  readonly #worker: Worker

  private constructor(worker: Worker, onBoard: (board: Int32Array) => void) {
    this.#worker = worker
    worker.on('message', (message: EvaluationReply) => {
      if (message.type === 'board') onBoard(message.board)
    })
  }

  /** Starts the thread and lets it import everything, which must happen before the process is locked down. */
  static async spawn(onBoard: (board: Int32Array) => void = () => {}): Promise<Evaluator> {
    const worker = new Worker(new URL('./evaluation-worker.ts', import.meta.url))
    await nextReply(worker, (message) => message.type === 'ready')
    return new Evaluator(worker, onBoard)
  }

  /** One evaluation at a time. Faults of the scenario throw AgentGymError. */
  async evaluate({ onEpisodes, onSample, onLogs, success, ...task }: EvaluationTask): Promise<PlayedEvaluation> {
    this.#worker.postMessage(task satisfies EvaluationRequest)
    const reply = await nextReply(this.#worker, (message) => {
      if (message.type === 'episodes') onEpisodes?.(message.done)
      if (message.type === 'logs') onLogs?.(message.logs)
      return message.type === 'outcomes'
    })
    if (reply.type !== 'outcomes') throw new Error('the evaluation thread sent no outcomes')
    const { outcomes, tasks, levels, sample } = reply
    if (sample !== null) onSample?.(sample)
    const run = { scenario: task.scenario.identity, seed: task.seed, tasks, levels, success }
    return {
      evaluation: summarize(outcomes, run),
      returns: outcomes.map((outcome) => outcome.return),
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
