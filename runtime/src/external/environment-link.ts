import assert from 'node:assert'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { SessionOptions } from './environment-session.ts'

/** What a playing thread requests; the link's thread answers each with one reply, in order. */
export type LinkRequest =
  | { type: 'open'; options: SessionOptions; signal: Int32Array }
  | { type: 'reset'; mask: Uint8Array; seeds: number[] }
  | { type: 'step' }
  | { type: 'metricNames' }
  | { type: 'close' }

export type LinkReply = { type: 'done' } | { type: 'names'; names: string[] } | { type: 'fault'; error: ErrorReport }

/** Beyond the limit of the process itself, which the link's thread enforces: a thread of ours that hangs is a bug. */
const GRACE_MS = 30_000

/**
 * The thread that holds the sockets of a job. Threads that play block while the process of the user steps, so none of them
 * can read a socket itself.
 */
export class LinkThread {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Starts the thread and lets it import everything, which must happen before the process is locked down. */
  static async spawn(): Promise<LinkThread> {
    const worker = new Worker(new URL('./link-worker.ts', import.meta.url))
    await new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve())
      worker.once('error', reject)
    })
    return new LinkThread(worker)
  }

  /** An end for one thread that plays; to be transferred to it. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#worker.postMessage(port1, [port1])
    return port2
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** The playing thread's end: calls that block until the process of the user has answered. */
export class EnvironmentLink {
  readonly #port: MessagePort
  /** Counts replies; the link's thread adds to it and wakes us. */
  readonly #signal = new Int32Array(new SharedArrayBuffer(4))
  #calls = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  open(options: SessionOptions): void {
    // Each environment may need a connection of its own.
    this.#call({ type: 'open', options, signal: this.#signal }, options.source.timeoutMs)
  }

  reset(mask: Uint8Array, seeds: number[], timeoutMs: number): void {
    this.#call({ type: 'reset', mask, seeds }, timeoutMs)
  }

  step(timeoutMs: number): void {
    this.#call({ type: 'step' }, timeoutMs)
  }

  metricNames(): string[] {
    const reply = this.#call({ type: 'metricNames' }, 0)
    assert(reply.type === 'names')
    return reply.names
  }

  close(): void {
    this.#port.postMessage({ type: 'close' } satisfies LinkRequest)
    this.#port.close()
  }

  #call(request: LinkRequest, timeoutMs: number): LinkReply {
    this.#port.postMessage(request)
    const answered = Atomics.wait(this.#signal, 0, this.#calls, timeoutMs + GRACE_MS)
    if (answered === 'timed-out') throw new Error('the thread of the sockets does not answer')
    this.#calls += 1
    const reply = (receiveMessageOnPort(this.#port) as { message: LinkReply }).message
    if (reply.type === 'fault') throw new AgentGymError(reply.error)
    return reply
  }
}
