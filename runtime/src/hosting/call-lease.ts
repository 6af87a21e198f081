import type { Client } from '@agentgym/client'
import { elapsedMs, now } from '../worker/moment.ts'
import { isTransient, leaseLost, pause, retryAfterMs, withinTime } from '../worker/request-failure.ts'

const requestLimitMs = 10_000
const shortestRetryMs = 100
const longestRetryMs = 2_000

/** The lease of a batch of calls, from now on. It lasts some seconds, and nothing prolongs it: then others answer the calls. */
export class CallLease {
  readonly client: Client
  readonly #leaseMs: number
  readonly #signal: AbortSignal
  readonly #since = now()

  constructor(client: Client, leaseMs: number, signal: AbortSignal) {
    this.client = client
    this.#leaseMs = leaseMs
    this.#signal = signal
  }

  /**
   * Sends a request about the calls, again where the server does not answer or is in trouble, as long as the lease holds.
   * Throws `lease_lost`, and what the server refuses the request for.
   */
  async request<Result>(
    send: (signal: AbortSignal) => Promise<Result>,
    { limitMs = requestLimitMs }: { limitMs?: number } = {},
  ): Promise<Result> {
    for (let retryMs = shortestRetryMs; ; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      const leftMs = this.#leaseMs - elapsedMs(this.#since)
      if (leftMs <= 0 || this.#signal.aborted) throw leaseLost()
      try {
        return await withinTime(Math.min(limitMs, leftMs), this.#signal, send)
      } catch (error) {
        if (this.#signal.aborted) throw leaseLost()
        if (!isTransient(error)) throw error
        await pause(retryAfterMs(error, retryMs), this.#signal)
      }
    }
  }
}
