import type { AgentManifest } from '@agentgym/contract'
import { modelTimeout } from '../evaluation/model-timeout.ts'
import { threadEnvironment } from '../evaluation/thread-environment.ts'
import { superviseJob } from '../sandbox/supervisor.ts'
import type { ServedCall } from './call-encoder.ts'
import type { ServedAgentJob } from './served-agent.process.ts'

export type ServedAgentLimits = {
  /** The process must be there within this. */
  startMs: number
  /** Loading the model, and every batch of calls. */
  deadlineMs: number
  /** Resident memory of the whole process, in MiB. Node and ONNX Runtime take about 200 of it. */
  processMemoryMb: number
}

export type AgentWithModel = { manifest: Pick<AgentManifest, 'scenario' | 'policy'>; model: Uint8Array }

/** What is left to the process to keep its own deadline; beyond it, it is no longer our code that runs there. */
const graceMs = 2_000

/**
 * The process of one served agent: without secrets, network or files, with a cap on memory, and killed when in doubt. What
 * it sends is a stranger's. Methods reject as `superviseJob` and its process do; once that has happened, it is gone.
 */
export class AgentProcess {
  /** Rejects when the process has ended, whatever ended it; never resolves. */
  readonly over: Promise<never>
  readonly #limits: ServedAgentLimits
  readonly #end = new AbortController()
  #send: (message: unknown) => void = () => {}
  #receive: (message: unknown) => void = () => {}

  constructor({ manifest: { scenario, policy }, model }: AgentWithModel, limits: ServedAgentLimits) {
    this.#limits = limits
    const { startMs, deadlineMs, processMemoryMb } = limits
    const { observation, action, name, version, hash } = scenario
    const job: ServedAgentJob = { manifest: { scenario: { observation, action }, policy }, model, deadlineMs }
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
      throw new Error('an agent that is served ends only by an error')
    })
    // It may end while nobody asks it anything.
    this.over.catch(() => {})
  }

  /** Resolves once the model is loaded. */
  async loaded(): Promise<void> {
    const { startMs, deadlineMs } = this.#limits
    await this.#next(startMs + deadlineMs + graceMs)
  }

  /** What it says to calls: not looked at yet. One batch at a time. */
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
