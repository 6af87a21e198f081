import type { LeasedTraining } from '@agentgym/contract'

const millisecondsPerHour = 3_600_000

/**
 * Counts the milliseconds that a trainer has run in this attempt, by the monotonic clock: what the run is charged for.
 * Nothing else counts, neither downloads nor waiting for the server.
 */
export class RunMeter {
  readonly #budget: LeasedTraining['run']['budget']
  #countedMs = 0
  #startedAt: number | undefined

  constructor(budget: LeasedTraining['run']['budget']) {
    this.#budget = budget
  }

  /** The trainer starts. */
  start(): void {
    this.#startedAt ??= performance.now()
  }

  /** The trainer has ended. */
  stop(): void {
    this.#countedMs += this.#runningMs()
    this.#startedAt = undefined
  }

  /** Training since then is lost and will be repeated: it is not charged twice. */
  rewindTo(meteredMs: number): void {
    this.#countedMs = Math.min(this.#countedMs, meteredMs)
  }

  /** Whole milliseconds. */
  get meteredMs(): number {
    return Math.floor(this.#countedMs + this.#runningMs())
  }

  /** Whether the budget is used up, earlier attempts included. */
  get budgetUsed(): boolean {
    const { budget_minor, price_milliseconds, price_minor_per_hour } = this.#budget
    if (budget_minor === null) return false
    return price_milliseconds + price_minor_per_hour * this.meteredMs >= budget_minor * millisecondsPerHour
  }

  #runningMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt
  }
}
