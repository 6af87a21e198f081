import { isCrossing, type Place, progressKey, readPlace } from './board.ts'
import { BEAT_MS } from './job-messages.ts'
import type { JobLimits } from './limits.ts'

type WatchedBoard = { board: Int32Array; key: string; sinceMs: number }

/** A verdict of the watch: the guest hangs there, or the job's own main thread does not answer. */
export type Hang = { place: Place; limitMs: number } | { place: undefined; limitMs: number }

/**
 * Time and progress as the supervisor sees them. Its clock counts at most a few ticks at a time, so that a pause of the
 * supervisor itself (a suspended laptop, a long synchronous task) is never held against the job.
 */
export class JobWatch {
  readonly #limits: JobLimits
  readonly #boards = new Map<number, WatchedBoard>()
  #nowMs = 0
  #lastTick = performance.now()
  #lastHeardMs = 0
  #started = false
  #progress = 0
  #progressedMs = 0

  constructor(limits: JobLimits) {
    this.#limits = limits
  }

  tick(): void {
    const now = performance.now()
    this.#nowMs += Math.min(now - this.#lastTick, 4 * BEAT_MS)
    this.#lastTick = now
  }

  /** Any message shows that the main thread lives. */
  heard(): void {
    this.#started = true
    this.#lastHeardMs = this.#nowMs
  }

  beat(boards: readonly [worker: number, board: Int32Array][], progress: number): void {
    if (progress !== this.#progress) {
      this.#progress = progress
      this.#progressedMs = this.#nowMs
    }
    for (const [worker, board] of boards) {
      const key = progressKey(board)
      const known = this.#boards.get(worker)
      if (known !== undefined && known.key === key) known.board = board
      else this.#boards.set(worker, { board, key, sinceMs: this.#nowMs })
    }
  }

  /**
   * A guest hangs when its board stood still through heartbeats for its limit. Only heartbeats count: while the main
   * thread is busy, what its last one said may long be over.
   */
  hang(): Hang | undefined {
    for (const { board, sinceMs } of this.#boards.values()) {
      if (!isCrossing(board)) continue
      const place = readPlace(board)
      const limitMs = place.phase === 'load' || place.phase === 'define' ? this.#limits.loadMs : this.#limits.crossingMs
      if (this.#lastHeardMs - sinceMs > limitMs + this.#limits.graceMs) return { place, limitMs }
    }
    const limitMs = this.#started ? this.#limits.silenceMs : this.#limits.startMs
    if (this.#nowMs - Math.max(this.#lastHeardMs, this.#progressedMs) > limitMs) return { place: undefined, limitMs }
    return undefined
  }

  /** Where guest code was running at the last heartbeat: of several workers, the one that stood still longest. */
  guestPlace(): Place | undefined {
    const running = [...this.#boards.values()].filter(({ board }) => isCrossing(board))
    if (running.length === 0) return undefined
    return readPlace(running.reduce((oldest, next) => (next.sinceMs < oldest.sinceMs ? next : oldest)).board)
  }
}
