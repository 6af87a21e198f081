import { sql } from 'kysely'
import { leasable } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { stillOpen } from './hosted-calls.store.ts'

type Serving = Pick<Services, 'database' | 'log'>

/** How long calls may still be answered after the server starts to shut down. */
const CLOSING_MS = 10_000

/** Signals between processes, followed by a colon and an ID: a version has a waiting call; a call has ended. */
const admittedSignal = 'call-admitted'
const endedSignal = 'call-ended'

/**
 * Connects callers and workers that wait in this process. Calls and answers of this process wake them immediately,
 * those of other processes by a signal, which may be lost. So the database is polled as well, once for all waiters.
 */
export class CallBroker {
  readonly #services: Serving
  readonly times: HostingTimes
  readonly #callers = new Map<string, Set<Waiter>>()
  readonly #workers = new Set<WaitingWorker>()
  #timer: NodeJS.Timeout | undefined
  #polling = false
  #listening = false
  #closedAt: number | undefined

  constructor(services: Serving, times: HostingTimes) {
    this.#services = services
    this.times = times
  }

  get closed(): boolean {
    return this.#closedAt !== undefined
  }

  /** Workers that wait for calls in this process. */
  get workers(): number {
    return this.#workers.size
  }

  /** The latest time at which a call may still have a waiter, by `performance.now()`. */
  get endsAt(): number {
    return this.#closedAt === undefined ? Number.POSITIVE_INFINITY : this.#closedAt + CLOSING_MS
  }

  /** Shuts down: workers leave immediately, and callers wait a little longer. */
  close(): void {
    this.#closedAt ??= performance.now()
    this.#wakeAll()
  }

  /** Waits for a call's end; must be called before the call is admitted. The waiter must always leave. */
  awaitCall(id: string): Waiter {
    const waiter = new Waiter(() => {
      const waiters = this.#callers.get(id)
      waiters?.delete(waiter)
      if (waiters?.size === 0) this.#callers.delete(id)
      this.#rest()
    })
    const waiters = this.#callers.get(id) ?? new Set()
    waiters.add(waiter)
    this.#callers.set(id, waiters)
    this.#watch()
    return waiter
  }

  /** Whether a caller in this process waits for the call. */
  isAwaited(id: string): boolean {
    return this.#callers.has(id)
  }

  /** Waits for calls; woken first for those of a loaded version. The waiter must always leave. */
  awaitWork(loaded: readonly string[]): Waiter {
    const waiter: WaitingWorker = new WaitingWorker(new Set(loaded), (unheard) => {
      this.#workers.delete(waiter)
      // It was woken for a call but leaves without reading it: wake another one.
      if (unheard) this.#workers.values().next().value?.wake()
      this.#rest()
    })
    this.#workers.add(waiter)
    this.#watch()
    return waiter
  }

  /** Call it after committing a waiting call. Signals other processes if no worker of this one is free. */
  admitted(versionId: string): void {
    if (!this.#wakeWorker(versionId)) this.#services.database.signals.send(`${admittedSignal}:${versionId}`)
  }

  /** Call it after committing the end of calls. */
  ended(ids: Iterable<string>): void {
    for (const id of ids) if (!this.#wakeCallers(id)) this.#services.database.signals.send(`${endedSignal}:${id}`)
  }

  /** Wakes a waiting worker, preferably one with the version loaded. Returns whether there was one. */
  #wakeWorker(versionId: string): boolean {
    const waiting = [...this.#workers]
    const ready = waiting.find(({ loaded }) => loaded.has(versionId))
    const chosen = ready ?? waiting.find(({ woken }) => !woken)
    chosen?.wake()
    return chosen !== undefined
  }

  #wakeCallers(id: string): boolean {
    const callers = this.#callers.get(id) ?? []
    for (const waiter of callers) waiter.wake()
    return this.#callers.has(id)
  }

  /** Handles a signal of any process. */
  #signaled(message: string): void {
    const [what, id = ''] = message.split(':')
    if (what === admittedSignal) this.#wakeWorker(id)
    if (what === endedSignal) this.#wakeCallers(id)
  }

  #wakeAll(): void {
    for (const id of this.#callers.keys()) this.#wakeCallers(id)
    for (const waiter of this.#workers) waiter.wake()
  }

  #watch(): void {
    this.#timer ??= setInterval(() => void this.#poll(), this.times.pollMs)
    if (this.#listening) return
    this.#listening = true
    const { database, log } = this.#services
    database.signals.listen(
      (message) => this.#signaled(message),
      (problem) => log.warn(problem),
    )
  }

  #rest(): void {
    if (this.#callers.size > 0 || this.#workers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Skipped while the previous poll is running, so a slow database is polled less often. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    try {
      await this.#ask()
    } catch (error) {
      // Waiters go on; the next poll may succeed.
      if (!this.closed) this.#services.log.warn('waiting calls could not be read', { error: String(error) })
    }
    this.#polling = false
  }

  async #ask(): Promise<void> {
    const { query } = this.#services.database
    const ids = [...this.#callers.keys()]
    if (ids.length > 0) {
      const open = await stillOpen(query, ids)
      for (const id of ids) if (!open.has(id)) this.#wakeCallers(id)
    }
    if (this.#workers.size === 0) return
    const { rows } = await sql`select 1 from hosted_calls where ${mayBeLeased} limit 1`.execute(query)
    if (rows.length > 0) for (const waiter of this.#workers) waiter.wake()
  }
}

/** Calls that can be leased: each at most twice. */
export const mayBeLeased = sql<boolean>`${leasable(2)} and expires_at > now()`

/** A waiting caller or worker. A wake-up during a database read is not lost. */
class Waiter {
  readonly #left: (unheard: boolean) => void
  #woken = false
  #resolve: () => void = () => {}

  constructor(left: (unheard: boolean) => void) {
    this.#left = left
  }

  /** Whether it has a pending wake-up. */
  get woken(): boolean {
    return this.#woken
  }

  wake(): void {
    this.#woken = true
    this.#resolve()
  }

  /** Resolves at a wake-up, after `ms`, or when the signal aborts. */
  async news(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#woken && !signal.aborted && ms > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      this.#resolve = resolve
      signal.addEventListener('abort', this.#resolve, { once: true })
      await promise
      signal.removeEventListener('abort', this.#resolve)
      clearTimeout(timer)
    }
    this.#woken = false
  }

  leave(): void {
    this.#left(this.#woken)
  }
}

class WaitingWorker extends Waiter {
  readonly loaded: ReadonlySet<string>

  constructor(loaded: ReadonlySet<string>, left: (unheard: boolean) => void) {
    super(left)
    this.loaded = loaded
  }
}

/** In milliseconds. Tests use shorter times. */
export type HostingTimes = {
  /** How long a caller waits for an answer. */
  waitMs: number
  /** Lease time of a batch. */
  leaseMs: number
  /** Polling interval for changes of other processes. */
  pollMs: number
}

const usualTimes: HostingTimes = { waitMs: 30_000, leaseMs: 20_000, pollMs: 250 }

/** The services, with hosting's state in this process. */
export type HostingServices = Services & { callBroker: CallBroker }

export function openHostingServices<Given extends Services>(
  services: Given,
  times: HostingTimes = usualTimes,
): Given & HostingServices {
  return { ...services, callBroker: new CallBroker(services, times) }
}
