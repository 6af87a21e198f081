const everyMs = 1_000
/** Nothing that a server does on its main thread takes nearly as long, even on a busy machine. */
const mostUnanswered = 15
/** Until its first answer a process loads the server, which holds it up. */
const mostUnansweredAtStart = 60

type Times = { everyMs: number; mostUnanswered: number; mostUnansweredAtStart: number }

/**
 * Asks a process every second whether it lives: a blocked event loop or a stopped process answers nothing. Questions
 * are counted, not time: after a pause of the machine or of this process, no process is considered dead.
 */
export class Heartbeat {
  /** Resolves once too many questions in a row are unanswered; not after `end`. */
  readonly hung: Promise<void>
  readonly #timer: NodeJS.Timeout
  #most: number
  #unanswered = 0
  readonly #times: Times

  constructor(ask: () => void, times: Times = { everyMs, mostUnanswered, mostUnansweredAtStart }) {
    this.#times = times
    this.#most = times.mostUnansweredAtStart
    const { promise, resolve } = Promise.withResolvers<void>()
    this.hung = promise
    this.#timer = setInterval(() => {
      if (this.#unanswered >= this.#most) {
        this.end()
        return resolve()
      }
      this.#unanswered++
      ask()
    }, times.everyMs)
  }

  answered(): void {
    this.#unanswered = 0
    this.#most = this.#times.mostUnanswered
  }

  end(): void {
    clearInterval(this.#timer)
  }
}
