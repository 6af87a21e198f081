import { AgentGymError, type CallAnswer } from '@agentgym/contract'
import { blameModel } from '../evaluation/golden-batch.ts'
import { AgentProcess, type AgentWithModel, type ServedAgentLimits } from './agent-process.ts'
import type { ServedCall } from './call-encoder.ts'
import { callInvalid } from './call-invalid.ts'
import { readAnswers, takenOver } from './read-answers.ts'

/** A dict in eight others, and a box of eight dimensions: nothing that fits a space is nested deeper. */
const deepest = 32

export type ServedAgentEvents = {
  /** Its process has the model loaded. */
  onLoaded?(): void
  /** The model ended its process, or was ended. */
  onFailed?(error: AgentGymError): void
}

/**
 * A published agent that answers calls. Its model, which has been walked, runs in a process of its own that starts with the
 * first call and stays for the next ones. Where the model hangs, crashes or fills the memory, the batch under way fails with
 * `model_timeout`, `model_crashed` or `model_out_of_memory`, and the next batch has a new process.
 */
export class ServedAgent {
  readonly #agent: AgentWithModel
  readonly #limits: ServedAgentLimits
  readonly #events: ServedAgentEvents
  #process: AgentProcess | undefined
  #last: Promise<unknown> = Promise.resolve()
  #ended = false

  constructor(agent: AgentWithModel, limits: ServedAgentLimits, events: ServedAgentEvents = {}) {
    this.#agent = agent
    this.#limits = limits
    this.#events = events
  }

  /**
   * One answer a call, in their order, at most `callsABatch` of them; batches wait for one another. Rejects where the fault
   * is neither the callers' nor the model's: the process cannot be started, a bug, or `end`.
   */
  answer(calls: ServedCall[]): Promise<CallAnswer[]> {
    const answers = this.#last.then(() => this.#answer(calls))
    this.#last = answers.catch(() => {})
    return answers
  }

  /** Ends its process, and with it the batch under way. */
  async end(): Promise<void> {
    this.#ended = true
    await this.#process?.end()
  }

  async #answer(calls: ServedCall[]): Promise<CallAnswer[]> {
    const shallow = calls.filter((call) => !isTooDeep(call))
    const tooDeep = (id: string): CallAnswer => ({ id, error: nestedTooDeeply().toReport() })
    const answered = shallow.length === 0 ? [] : await this.#ask(shallow)
    const byId = new Map(answered.map((answer) => [answer.id, answer]))
    return calls.map(({ id }) => byId.get(id) ?? tooDeep(id))
  }

  async #ask(calls: ServedCall[]): Promise<CallAnswer[]> {
    try {
      const process = this.#process ?? (await this.#start())
      return readAnswers(await process.answer(calls), calls)
    } catch (error) {
      const process = this.#process
      this.#process = undefined
      await process?.end()
      const failure = modelFailure(error)
      this.#events.onFailed?.(failure)
      return calls.map(({ id }) => ({ id, error: failure.toReport() }))
    }
  }

  async #start(): Promise<AgentProcess> {
    if (this.#ended) throw new AgentGymError({ code: 'training_cancelled', message: 'The agent is no longer served.' })
    const process = new AgentProcess(this.#agent, this.#limits)
    this.#process = process
    // Ended while nobody asked (by an operator, by the kernel): that is nobody's failure, and the next call has another one.
    void process.over.catch(() => {
      if (this.#process === process) this.#process = undefined
    })
    await process.loaded()
    this.#events.onLoaded?.()
    return process
  }
}

/**
 * In that process runs nothing but the model: what ended it is the model's doing. Not that it could not be started, that it
 * was us who ended it, or that there is a bug of ours: that is thrown on.
 */
function modelFailure(error: unknown): AgentGymError {
  const blamed = blameModel(error)
  if (!(blamed instanceof AgentGymError) || blamed.code === 'training_cancelled') throw blamed
  if (blamed.code !== 'training_failed') return blamed
  if (blamed.data.not_started === true || blamed.data.stack !== undefined) throw blamed
  return takenOver('sent what makes no sense, or nothing at all')
}

function nestedTooDeeply(): AgentGymError {
  return callInvalid('observation', `The call is nested deeper than ${deepest} levels.`, 'values of its spaces')
}

/** Looked at without recursion: how deep a stranger's JSON goes is theirs to choose. */
function isTooDeep({ observation, action_mask }: ServedCall): boolean {
  let level: unknown[] = [observation, action_mask]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
}
