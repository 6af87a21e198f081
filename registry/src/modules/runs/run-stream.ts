import { AgentGymError } from '@agentgym/contract'
import { type Actor, actorHolds } from '../../core/access/authorize.ts'
import { roleIn } from '../../core/access/memberships.store.ts'
import type { RunFeed } from './run-feed.ts'
import type { RunServices } from './run-services.ts'
import { isOver } from './run-state.ts'
import type { RunView } from './runs.store.ts'

/** Heartbeat interval, because proxies close idle connections. */
const HEARTBEAT_MS = 15_000
/** Interval of permission checks: a stream may outlast its reader's permission by this much. */
const RECHECK_MS = 60_000
/** Maximum duration of a stream: ended sessions are noticed at the reconnect. */
const LONGEST_MS = 60 * 60_000

const begin = Buffer.from('retry: 1000\n\n')
const heartbeat = Buffer.from(': still here\n\n')

export type StreamTimes = { heartbeatMs: number; recheckMs: number; longestMs: number }
const usualTimes: StreamTimes = { heartbeatMs: HEARTBEAT_MS, recheckMs: RECHECK_MS, longestMs: LONGEST_MS }

export type Watching = { actor: Actor; run: RunView; after: number; times?: StreamTimes }

/**
 * The events of a run after sequence number `after`, as server-sent events, until the run ends; null if it has ended
 * and there are none. Throws `request_invalid` for a sequence number that the run has not reached.
 *
 * The stream ends after the run's last event; when the server stops; at most a minute after the permission to see the
 * run, or the token, is revoked; and after an hour. A disconnected client reconnects from its last event and misses
 * none.
 */
export function streamRun(
  services: RunServices,
  { actor, run, after, times = usualTimes }: Watching,
): ReadableStream<Uint8Array> | null {
  if (isOver(run.state) && after >= run.last_seq) return null
  if (after > run.last_seq)
    throw new AgentGymError({
      code: 'request_invalid',
      message: `The run has ${run.last_seq} events so far, and none has the id ${after}.`,
      hint: 'Send the id of the last event you received, or omit it to get all events.',
      data: { field: 'last-event-id', in: 'header', last_event: run.last_seq },
    })
  const watcher = new Watcher(services, { actor, run, after, times })
  return new ReadableStream<Uint8Array>(
    { pull: (controller) => watcher.next(controller), cancel: () => watcher.leave() },
    // Events are produced on demand: those that a slow reader has not read stay in the database.
    { highWaterMark: 0 },
  )
}

/** A connection. Stores its position, but no events. */
class Watcher {
  readonly #services: RunServices
  readonly #actor: Actor
  readonly #run: RunView
  readonly #times: StreamTimes
  readonly #beganAt = performance.now()
  #checkedAt = this.#beganAt
  #place: number
  /** Starts with the first read, so that responses whose body is never read, such as to HEAD, watch nothing. */
  #feed: RunFeed | undefined
  #left = false
  #interrupt: () => void = () => {}

  constructor(services: RunServices, { actor, run, after, times }: Required<Watching>) {
    this.#services = services
    this.#actor = actor
    this.#run = run
    this.#times = times
    this.#place = after
  }

  /** Enqueues the next chunk when it is available, or ends the stream. */
  async next(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const piece = await this.#nextPiece()
      if (this.#left) return
      if (piece !== undefined) return controller.enqueue(piece)
      this.leave()
      controller.close()
    } catch (error) {
      this.leave()
      throw error
    }
  }

  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#interrupt()
    if (this.#feed !== undefined) this.#services.runFeeds.leave(this.#feed)
  }

  /** Undefined at the end. */
  async #nextPiece(): Promise<Uint8Array | undefined> {
    const feeds = this.#services.runFeeds
    if (this.#feed === undefined) {
      this.#feed = feeds.join(this.#run.id)
      this.#feed.advance(this.#run.last_seq, isOver(this.#run.state))
      return begin
    }
    const feed = this.#feed
    while (!this.#left) {
      if (feeds.closed || !(await this.#mayStay())) return undefined
      if (this.#place < feed.lastSeq) {
        const page = await feeds.pageAfter(feed.runId, this.#place)
        // Retention has deleted the last of them, so there are no more.
        this.#place = page.bytes.length === 0 ? feed.lastSeq : page.lastSeq
        if (page.bytes.length > 0) return page.bytes
      } else if (this.#place > feed.lastSeq) {
        // The page contained newer events: check whether the run has ended.
        await feed.refresh()
        if (this.#place > feed.lastSeq) await this.#change(feed)
      } else if (feed.over) return undefined
      else if (!(await this.#change(feed))) return heartbeat
    }
    return undefined
  }

  /** False if nothing changed before the next heartbeat. */
  async #change(feed: RunFeed): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const forget = feed.atNextChange(() => resolve(true))
    this.#interrupt = () => resolve(true)
    const timer = setTimeout(() => resolve(false), this.#times.heartbeatMs)
    const changed = await promise
    clearTimeout(timer)
    forget()
    return changed
  }

  async #mayStay(): Promise<boolean> {
    const now = performance.now()
    if (now - this.#beganAt > this.#times.longestMs) return false
    if (now - this.#checkedAt < this.#times.recheckMs) return true
    this.#checkedAt = now
    const { query } = this.#services.database
    if (!(await actorHolds(query, this.#actor))) return false
    const { accountId } = this.#actor
    return accountId === this.#run.owner_id || (await roleIn(query, this.#run.owner_id, accountId)) !== null
  }
}
