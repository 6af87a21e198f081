import { isDeepStrictEqual } from 'node:util'
import { callInvalid, obtainEncoder, obtainEncoders } from '@agentgym/agent/engine'
import { AgentGymError, type AgentManifest, type CallAnswer, callAnswersRequestSchema } from '@agentgym/contract'
import { blameModel, modelTimeout } from '../evaluation/model-failure.ts'
import { superviseJob, threadEnvironment } from '../sandbox/supervisor.ts'
import type { ServedCall } from './call-answerer.ts'
import type { ServedAgentJob } from './served-agent.process.ts'

/** Eight nested dicts and a box of eight dimensions: no valid value is nested deeper. */
const deepest = 32

export type ServedAgentEvents = {
  /** Its process has loaded the model. */
  onLoaded?(): void
  /** Its process ended, or was killed. */
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
    const answered = shallow.length === 0 ? [] : await this.#run(shallow)
    const byId = new Map(answered.map((answer) => [answer.id, answer]))
    return calls.map(({ id }) => byId.get(id) ?? tooDeep(id))
  }

  async #run(calls: ServedCall[]): Promise<CallAnswer[]> {
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
    // Where one has to be downloaded first, that takes longer than the process may take to load.
    await obtainEncoders(this.#agent.manifest.policy, obtainEncoder)
    if (this.#ended) throw new AgentGymError({ code: 'training_cancelled', message: 'The agent is no longer served.' })
    const process = new AgentProcess(this.#agent, this.#limits)
    this.#process = process
    // Ended between calls, by an operator or the kernel: not a failure. The next call starts another process.
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
  if (!(blamed instanceof AgentGymError)) throw blamed
  if (blamed.code === 'training_cancelled' || blamed.code === 'encoder_unavailable') throw blamed
  if (blamed.code !== 'training_failed') return blamed
  if (blamed.data.not_started === true || blamed.data.stack !== undefined) throw blamed
  return takenOver('sent an unreadable message, or none')
}

function nestedTooDeeply(): AgentGymError {
  return callInvalid('observation', `The call is nested deeper than ${deepest} levels.`, 'values of its spaces')
}

/** Without recursion: untrusted JSON may be nested arbitrarily deep. */
function isTooDeep({ observation, action_mask }: ServedCall): boolean {
  let level: unknown[] = [observation, action_mask]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
}

export type ServedAgentLimits = {
  /** Starting the process. */
  startMs: number
  /** Loading the model, and answering a batch of calls. */
  deadlineMs: number
  /** Resident memory of the whole process, in MiB. Node and ONNX Runtime take about 200 of it. */
  processMemoryMb: number
}

/** `model`: as the walk has written it. */
export type AgentWithModel = { manifest: Pick<AgentManifest, 'scenario' | 'policy'>; model: Uint8Array }

/** Extra time for the process to report its own timeout; after that it is killed. */
const graceMs = 2_000

/**
 * The process of one served agent: without secrets, network or files, with a cap on memory, and killed when in doubt. What
 * it sends is a stranger's. Methods reject as `superviseJob` and its process do; once that has happened, it is gone.
 */
class AgentProcess {
  /** Rejects when the process has ended, whatever ended it; never resolves. */
  readonly over: Promise<never>
  readonly #limits: ServedAgentLimits
  readonly #end = new AbortController()
  #send: (message: unknown) => void = () => {}
  #receive: (message: unknown) => void = () => {}

  constructor({ manifest: { scenario, policy }, model }: AgentWithModel, limits: ServedAgentLimits) {
    this.#limits = limits
    const { startMs, deadlineMs, processMemoryMb } = limits
    const { name, version, hash } = scenario
    const { observation, action, mask_required } = scenario
    const job: ServedAgentJob = {
      manifest: { scenario: { observation, action, mask_required }, policy },
      model,
      deadlineMs,
    }
    this.over = superviseJob({
      entry: new URL('./served-agent.process.ts', import.meta.url),
      job,
      identity: { name, version, hash },
      limits: { processMemoryMb, startMs, silenceMs: deadlineMs + graceMs },
      signal: this.#end.signal,
      environment: threadEnvironment(),
      onStart: (send) => {
        this.#send = send
      },
      onMessage: (message) => this.#receive(message),
    }).then(() => {
      throw new Error('a served agent ends only by an error')
    })
    // It may end between calls, when nothing awaits it.
    this.over.catch(() => {})
  }

  /** Resolves once the model is loaded. */
  async loaded(): Promise<void> {
    const { startMs, deadlineMs } = this.#limits
    await this.#next(startMs + deadlineMs + graceMs)
  }

  /** Its answers to calls, not validated yet. One batch at a time. */
  async answer(calls: ServedCall[]): Promise<unknown> {
    const answers = this.#next(this.#limits.deadlineMs + graceMs)
    this.#send(calls)
    return answers
  }

  /** Kills it, and waits until it is gone. */
  async end(): Promise<void> {
    this.#end.abort()
    await this.over.catch(() => {})
  }

  async #next(limitMs: number): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#receive = resolve
    const timer = setTimeout(() => reject(modelTimeout(limitMs)), limitMs)
    try {
      return await Promise.race([promise, this.over])
    } finally {
      clearTimeout(timer)
      this.#receive = () => {}
    }
  }
}

/** One answer with the probabilities of as many choices as a space may have takes less. */
const answerBytes = 2 ** 20

/**
 * What an agent's process said to calls, if it is one answer a call, in their order, as the contract has them. Anything else
 * means that the model has taken the process over: throws `model_crashed`.
 */
export function readAnswers(received: unknown, calls: Pick<ServedCall, 'id'>[]): CallAnswer[] {
  try {
    const answers = callAnswersRequestSchema.shape.answers.parse(received)
    const ids = (list: { id: string }[]) => list.map(({ id }) => id)
    const fits = answers.every((answer) => Buffer.byteLength(JSON.stringify(answer)) <= answerBytes)
    if (fits && isDeepStrictEqual(ids(answers), ids(calls))) return answers
  } catch {
    // Not of the contract's shape, or too deeply nested to check.
  }
  throw takenOver('sent an invalid answer')
}

function takenOver(what: string): AgentGymError {
  return new AgentGymError({
    code: 'model_crashed',
    message: `The process that ran model.onnx ${what}, and was ended.`,
    hint: 'Export the policy again, as plain layers.',
    data: { file: 'model.onnx' },
  })
}
