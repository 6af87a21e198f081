import { type Client, type LeaseTerm, sendHeartbeat } from '@agentgym/client'
import type { Heartbeat, LeasedJob, WorkerUsage } from '@agentgym/contract'
import {
  elapsedMs,
  isLost,
  isTransient,
  leaseLost,
  type Moment,
  now,
  pause,
  retryAfterMs,
  withinTime,
} from './server-requests.ts'

export type HeldLeaseOptions = {
  client: Client
  job: LeasedJob
  /** How long it holds, from `requestedAt`: when the request for it was sent. */
  leaseMs: number
  requestedAt: Moment
  heartbeatMs: number
  usage(): WorkerUsage
  /** Drops the job at once, without notifying the server. */
  signal: AbortSignal
}

const shortestRetryMs = 250
const longestRetryMs = 4_000
const heartbeatLimitMs = 10_000
const requestLimitMs = 30_000

/**
 * A lease and the right to write about its job. It is kept by heartbeats of its own, whatever the job is doing; it is lost
 * when the server says so, or when no answer has prolonged it in time by our own clocks. Lost is for good: `lost` aborts,
 * and nothing is sent any more. A process that was stopped (SIGSTOP, a suspended machine) past its lease finds out before
 * it sends anything; what was on its way already, the server refuses.
 */
export class HeldLease {
  readonly client: Client
  readonly job: LeasedJob
  readonly #options: HeldLeaseOptions
  readonly #lost = new AbortController()
  readonly #stop = new AbortController()
  readonly #ended = new AbortController()
  readonly #heartbeats: Promise<void>
  #term: { since: Moment; leaseMs: number }
  #stopReason: Heartbeat['stop'] = null

  constructor(options: HeldLeaseOptions) {
    this.client = options.client
    this.job = options.job
    this.#options = options
    this.#term = { since: options.requestedAt, leaseMs: options.leaseMs }
    const { signal } = options
    if (signal.aborted) this.#lost.abort()
    signal.addEventListener('abort', () => this.#lost.abort(), { signal: this.#ended.signal })
    this.#heartbeats = this.#keep()
  }

  /** Aborts when the lease is not ours any more. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** Aborts when the server asks for the run's end; `stopReason` says why. */
  get stop(): AbortSignal {
    return this.#stop.signal
  }

  get stopReason(): Heartbeat['stop'] {
    return this.#stopReason
  }

  /**
   * Sends a request about the job, again where the server does not answer or is in trouble, as long as the lease holds.
   * Throws `lease_lost`, and what the server refuses the request for.
   */
  async request<Result>(
    send: (signal: AbortSignal) => Promise<Result>,
    { limitMs = requestLimitMs }: { limitMs?: number } = {},
  ): Promise<Result> {
    for (let retryMs = shortestRetryMs; ; retryMs = Math.min(2 * retryMs, longestRetryMs)) {
      this.#assertHeld()
      try {
        return await withinTime(limitMs, this.lost, send)
      } catch (error) {
        if (isLost(error)) this.#lost.abort()
        if (this.lost.aborted) throw leaseLost()
        if (!isTransient(error)) throw error
        await pause(retryAfterMs(error, retryMs), this.lost)
      }
    }
  }

  /** A request whose answer prolongs the lease. */
  async renew(send: (signal: AbortSignal) => Promise<LeaseTerm>, options: { limitMs?: number } = {}): Promise<void> {
    await this.request(async (signal) => {
      const since = now()
      this.#renewed(since, await send(signal))
    }, options)
  }

  /** Stops the heartbeats. The server is not notified: the lease expires unless the job ended or was released. */
  async end(): Promise<void> {
    this.#ended.abort()
    await this.#heartbeats
  }

  async #keep(): Promise<void> {
    const { heartbeatMs, usage, client } = this.#options
    const over = AbortSignal.any([this.lost, this.#ended.signal])
    let waitMs = heartbeatMs
    while (!over.aborted) {
      // Never asleep beyond the lease's end: what it pays for must stop then.
      await pause(Math.min(waitMs, Math.max(20, 0.8 * this.#remainingMs())), over)
      if (over.aborted) return
      if (this.#remainingMs() <= 0) return this.#lost.abort()
      const since = now()
      try {
        const limitMs = Math.min(heartbeatLimitMs, this.#remainingMs())
        const term = await withinTime(limitMs, over, (signal) =>
          sendHeartbeat(client, this.job, { usage: usage(), signal }),
        )
        this.#renewed(since, term)
        waitMs = heartbeatMs
      } catch (error) {
        if (isLost(error)) return this.#lost.abort()
        // No answer, or an error: the lease may still be valid, and otherwise expires.
        waitMs = Math.min(heartbeatMs, longestRetryMs / 2)
      }
    }
  }

  #renewed(since: Moment, { leaseMs, stop }: LeaseTerm): void {
    if (leaseMs - elapsedMs(since) > this.#remainingMs()) this.#term = { since, leaseMs }
    if (stop === null || this.#stopReason !== null) return
    this.#stopReason = stop
    this.#stop.abort()
  }

  #remainingMs(): number {
    return this.#term.leaseMs - elapsedMs(this.#term.since)
  }

  #assertHeld(): void {
    if (this.#remainingMs() <= 0) this.#lost.abort()
    if (this.lost.aborted) throw leaseLost()
  }
}
