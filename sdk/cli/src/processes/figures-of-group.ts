import { setTimeout as delay } from 'node:timers/promises'
import { addCounts, countsOf, type GroupFigures, type ProcessFigures } from '@agentgym/registry/processes'

/** A process that can be asked what it counts. Rejects where it ends before it answers. */
export type Counting = { readFigures(): Promise<ProcessFigures> }

/** Prometheus waits ten times as long. */
const usualWaitMs = 1_000

/**
 * What all processes of a group count, as one. No count may ever fall from one scrape to the next: Prometheus would take
 * it for a restart and count everything again. So what a process has told stays counted while it does not answer, and
 * after its end.
 */
export class FiguresOfGroup {
  readonly #waitMs: number
  /** Of those that live, as they last told. */
  readonly #told = new Map<Counting, ProcessFigures>()
  #ofEnded: ProcessFigures = []

  constructor(waitMs = usualWaitMs) {
    this.#waitMs = waitMs
  }

  ended(counting: Counting): void {
    const told = this.#told.get(counting)
    if (told === undefined) return
    this.#told.delete(counting)
    this.#ofEnded = addCounts(this.#ofEnded, countsOf(told))
  }

  /** Asks all of them at once; who does not answer in time is represented by what it told before. */
  async read(asked: Iterable<Counting>): Promise<GroupFigures> {
    const answered = new Set<Counting>()
    const living = new Set(asked)
    const answers = [...living].map(async (counting) => {
      const figures = await counting.readFigures()
      // Later than it should, an answer is still news for the next scrape.
      this.#told.set(counting, figures)
      answered.add(counting)
    })
    const done = new AbortController()
    await Promise.race([
      Promise.allSettled(answers),
      delay(this.#waitMs, undefined, { signal: done.signal }).catch(() => {}),
    ])
    done.abort()
    const figures = [...this.#told].map(([counting, told]) => (answered.has(counting) ? told : countsOf(told)))
    return { figures: [this.#ofEnded, ...figures], answered: [...answered].filter((one) => this.#told.has(one)).length }
  }
}
