import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import { leasable } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { stillOpen } from './hosted-calls.store.ts'
import { type HostingTimes, usualTimes } from './hosting-times.ts'

type Serving = Pick<Services, 'database' | 'log'>

/** How long calls may still be answered once the server is to stop. */
const CLOSING_MS = 10_000

/**
 * Where callers and workers of this process wait for each other. What happens here wakes them at once; what other processes
 * do, the database tells all of them by one question each quarter of a second.
 */
export class CallDesk {
  readonly #services: Serving
  readonly #pollMs: number
  readonly #callers = new Map<string, Set<Place>>()
  readonly #workers = new Set<WorkerPlace>()
  #timer: NodeJS.Timeout | undefined
  #polling = false
  #closedAt: number | undefined

  constructor(services: Serving, pollMs: number) {
    this.#services = services
    this.#pollMs = pollMs
  }

  get closed(): boolean {
    return this.#closedAt !== undefined
  }

  /** Workers that wait here. */
  get workers(): number {
    return this.#workers.size
  }

  /** Until when calls may be waited for at most, by `performance.now()`. */
  get endsAt(): number {
    return this.#closedAt === undefined ? Number.POSITIVE_INFINITY : this.#closedAt + CLOSING_MS
  }

  /** The server is to stop: workers ask elsewhere, and callers wait a little longer. */
  close(): void {
    this.#closedAt ??= performance.now()
    this.#wakeAll()
  }

  /** Waits for what becomes of a call, from before it is there. Leave the place in any case. */
  awaitCall(id: string): Place {
    const place = new Place(() => {
      const places = this.#callers.get(id)
      places?.delete(place)
      if (places?.size === 0) this.#callers.delete(id)
      this.#rest()
    })
    const places = this.#callers.get(id) ?? new Set()
    places.add(place)
    this.#callers.set(id, places)
    this.#watch()
    return place
  }

  /** Whether anybody here waits for the call. */
  isAwaited(id: string): boolean {
    return this.#callers.has(id)
  }

  /** Waits for calls, to be had first where they are of a version that is loaded. Leave the place in any case. */
  awaitWork(loaded: readonly string[]): Place {
    const place: WorkerPlace = new WorkerPlace(new Set(loaded), (unheard) => {
      this.#workers.delete(place)
      // It was told of a call, and goes without having looked: somebody else does.
      if (unheard) this.#workers.values().next().value?.wake()
      this.#rest()
    })
    this.#workers.add(place)
    this.#watch()
    return place
  }

  /** To be called once a call that waits is committed. */
  admitted(versionId: string): void {
    const [first] = this.#workers
    const ready = [...this.#workers].find(({ loaded }) => loaded.has(versionId))
    const chosen = ready ?? first
    chosen?.wake()
  }

  /** To be called once what became of calls is committed. */
  ended(ids: Iterable<string>): void {
    for (const id of ids) for (const place of this.#callers.get(id) ?? []) place.wake()
  }

  #wakeAll(): void {
    this.ended(this.#callers.keys())
    for (const place of this.#workers) place.wake()
  }

  #watch(): void {
    this.#timer ??= setInterval(() => void this.#poll(), this.#pollMs)
  }

  #rest(): void {
    if (this.#callers.size > 0 || this.#workers.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Where the database is slower than that, it is asked as often as it answers. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    try {
      await this.#ask()
    } catch (error) {
      // Whoever waits goes on; the next question may be answered.
      if (!this.closed) this.#services.log.warn('waiting calls could not be asked for', { error: String(error) })
    }
    this.#polling = false
  }

  async #ask(): Promise<void> {
    const { query } = this.#services.database
    const ids = [...this.#callers.keys()]
    if (ids.length > 0) {
      const open = await stillOpen(query, ids)
      this.ended(ids.filter((id) => !open.has(id)))
    }
    if (this.#workers.size === 0) return
    const { rows } = await sql`select 1 from hosted_calls where ${mayBeLeased} limit 1`.execute(query)
    if (rows.length > 0) for (const place of this.#workers) place.wake()
  }
}

/** Calls that a worker may have now: each is given out twice at most. */
export const mayBeLeased = sql<boolean>`${leasable(2)} and expires_at > now()`

/** Somebody who waits. A wake-up that comes while they look elsewhere is kept. */
class Place {
  readonly #left: (unheard: boolean) => void
  #woken = false
  #resolve: () => void = () => {}

  constructor(left: (unheard: boolean) => void) {
    this.#left = left
  }

  wake(): void {
    this.#woken = true
    this.#resolve()
  }

  /** Resolves when there may be news, after `ms`, or when the signal aborts. */
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

class WorkerPlace extends Place {
  readonly loaded: ReadonlySet<string>

  constructor(loaded: ReadonlySet<string>, left: (unheard: boolean) => void) {
    super(left)
    this.loaded = loaded
  }
}

/** The desk of one database in this process, made by whoever comes first. */
export function callDesk(services: Serving, { pollMs }: HostingTimes = usualTimes): CallDesk {
  let desk = desks.get(services.database)
  if (desk === undefined) {
    desk = new CallDesk(services, pollMs)
    desks.set(services.database, desk)
  }
  return desk
}
const desks = new WeakMap<Database, CallDesk>()
