import type { RunState } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Services } from '../../core/services.ts'
import { readEvents } from './run-events.store.ts'
import { isOver } from './run-state.ts'

/** Serialized events of a run between two sequence numbers. Shared by all watchers. */
type FeedPage = { lastSeq: number; bytes: Uint8Array }

/** Polling interval for changes by other processes to runs watched here. */
const POLL_MS = 500
/** Number of events per read. */
const PAGE_EVENTS = 250
/** Size limit of the cached pages of all runs. */
const KEPT_BYTES = 32 * 2 ** 20

/**
 * Shared state of the watchers in this process: one query every half second for all watched runs, and each event is
 * read and serialized once. A watcher only stores its position, so a slow reader costs nothing and reads missed events
 * from the database.
 */
export class RunFeeds {
  readonly #services: Pick<Services, 'database' | 'log'>
  readonly #feeds = new Map<string, RunFeed>()
  readonly #pages = new Map<string, FeedPage>()
  readonly #loading = new Map<string, Promise<FeedPage>>()
  #keptBytes = 0
  #timer: NodeJS.Timeout | undefined
  #polling = false
  #closed = false

  constructor(services: Pick<Services, 'database' | 'log'>) {
    this.#services = services
  }

  /** Watches a run until `leave` is called. */
  join(runId: string): RunFeed {
    let feed = this.#feeds.get(runId)
    if (feed === undefined) {
      const made = new RunFeed(runId, () => this.#ask([runId]))
      this.#feeds.set(runId, made)
      feed = made
    }
    feed.watchers++
    this.#timer ??= setInterval(() => void this.#poll(), POLL_MS)
    return feed
  }

  /** Call it after this process commits a change of the run. Other processes notice at their next poll. */
  changed(runId: string): void {
    void this.#feeds.get(runId)?.refresh()
  }

  leave(feed: RunFeed): void {
    feed.watchers--
    if (feed.watchers > 0) return
    this.#feeds.delete(feed.runId)
    if (this.#feeds.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#pages.clear()
    this.#keptBytes = 0
  }

  /** Connections, over all runs. */
  get watchers(): number {
    return [...this.#feeds.values()].reduce((total, { watchers }) => total + watchers, 0)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Ends all watches; clients may continue elsewhere. */
  close(): void {
    this.#closed = true
    for (const feed of this.#feeds.values()) feed.wake()
  }

  /** The next events after `seq`, at least one. Call it only if there are any. */
  async pageAfter(runId: string, seq: number): Promise<FeedPage> {
    const key = `${runId}/${seq}`
    const kept = this.#pages.get(key)
    if (kept !== undefined) return kept
    let loading = this.#loading.get(key)
    if (loading === undefined) {
      loading = this.#load(runId, seq).finally(() => this.#loading.delete(key))
      this.#loading.set(key, loading)
    }
    const page = await loading
    this.#keep(key, page)
    return page
  }

  /** Skipped while the previous poll is running, so a slow database is polled less often. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    await this.#ask([...this.#feeds.keys()])
    this.#polling = false
  }

  async #ask(runIds: string[]): Promise<void> {
    try {
      const { rows } = await sql<{ id: string; state: RunState; last_seq: number }>`
        select id, state, last_seq from training_runs where id = any(${sql.val(runIds)}::uuid[])`.execute(
        this.#services.database.query,
      )
      for (const { id, state, last_seq } of rows) this.#feeds.get(id)?.advance(last_seq, isOver(state))
    } catch (error) {
      // Watchers wait; the next poll may succeed.
      if (!this.#closed) this.#services.log.warn('the watched runs could not be read', { error: String(error) })
    }
  }

  async #load(runId: string, seq: number): Promise<FeedPage> {
    const events = await readEvents(this.#services.database.query, runId, seq, PAGE_EVENTS)
    const text = events.map((event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    return { lastSeq: events.at(-1)?.seq ?? seq, bytes: Buffer.from(text.join('')) }
  }

  #keep(key: string, page: FeedPage): void {
    if (this.#feeds.size === 0 || this.#pages.has(key) || page.bytes.length === 0) return
    this.#pages.set(key, page)
    this.#keptBytes += page.bytes.length
    for (const [oldest, { bytes }] of this.#pages) {
      if (this.#keptBytes <= KEPT_BYTES) return
      this.#pages.delete(oldest)
      this.#keptBytes -= bytes.length
    }
  }
}

/** State of a run in this process. */
export class RunFeed {
  readonly runId: string
  readonly #ask: () => Promise<void>
  readonly #waiting = new Set<() => void>()
  #asking: Promise<void> | undefined
  #askAgain = false
  #lastSeq = 0
  #over = false
  watchers = 0

  constructor(runId: string, ask: () => Promise<void>) {
    this.runId = runId
    this.#ask = ask
  }

  /** `seq` of the run's latest event. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Whether that event is the last one, unless the run is resumed. */
  get over(): boolean {
    return this.#over
  }

  /** Applies newly read state; ignores state that is older than the known one. */
  advance(lastSeq: number, over: boolean): void {
    if (lastSeq < this.#lastSeq || (lastSeq === this.#lastSeq && over === this.#over)) return
    this.#lastSeq = lastSeq
    this.#over = over
    this.wake()
  }

  /** Reads the run's progress from the database. Callers that arrive during a read share the next one. */
  async refresh(): Promise<void> {
    this.#askAgain = true
    this.#asking ??= this.#askUntilFresh()
    await this.#asking
  }

  async #askUntilFresh(): Promise<void> {
    while (this.#askAgain) {
      this.#askAgain = false
      await this.#ask()
    }
    this.#asking = undefined
  }

  /** Calls `listener` once, at the next change. The returned function cancels this. */
  atNextChange(listener: () => void): () => void {
    this.#waiting.add(listener)
    return () => this.#waiting.delete(listener)
  }

  wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const listener of waiting) listener()
  }
}
