const shortestMs = 100
const longestMs = 10_000
/** Whoever served that long was well: the next failure is a new one. */
const healthyMs = 60_000

/** How long to wait before a process that ended is started again: 0.1 s at first, doubled each time up to 10 s. */
export class RestartPause {
  #nextMs = shortestMs

  /** The pause in milliseconds, after a process that served for `servedMs`, or 0 where it never did. */
  next(servedMs: number): number {
    if (servedMs >= healthyMs) this.#nextMs = shortestMs
    const pauseMs = this.#nextMs
    this.#nextMs = Math.min(2 * pauseMs, longestMs)
    return pauseMs
  }
}
