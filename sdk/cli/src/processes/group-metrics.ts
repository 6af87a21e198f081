import { setTimeout as delay } from 'node:timers/promises'
import { addCounts, countsOf, type GroupSnapshot, type MetricsSnapshot } from '@agentgym/registry/processes'

/** A process whose metrics can be read. Rejects if it ends before it responds. */
export type MetricsSource = { readMetrics(): Promise<MetricsSnapshot> }

/** Prometheus waits ten times as long. */
const defaultTimeoutMs = 1_000

/**
 * The metrics of all processes of a group as one. Counters must never decrease from one scrape to the next, which
 * Prometheus would take for a restart. So the last known counters of a process stay included while it does not respond,
 * and after its end.
 */
export class GroupMetrics {
  readonly #timeoutMs: number
  /** The last known metrics of the running processes. */
  readonly #latest = new Map<MetricsSource, MetricsSnapshot>()
  #ofEnded: MetricsSnapshot = []

  constructor(timeoutMs = defaultTimeoutMs) {
    this.#timeoutMs = timeoutMs
  }

  ended(source: MetricsSource): void {
    const latest = this.#latest.get(source)
    if (latest === undefined) return
    this.#latest.delete(source)
    this.#ofEnded = addCounts(this.#ofEnded, countsOf(latest))
  }

  /** Reads all processes at once; those that do not respond in time are represented by their last known counters. */
  async read(sources: Iterable<MetricsSource>): Promise<GroupSnapshot> {
    const responded = new Set<MetricsSource>()
    const responses = [...new Set(sources)].map(async (source) => {
      const metrics = await source.readMetrics()
      // A late response still counts for the next scrape.
      this.#latest.set(source, metrics)
      responded.add(source)
    })
    const done = new AbortController()
    await Promise.race([
      Promise.allSettled(responses),
      delay(this.#timeoutMs, undefined, { signal: done.signal }).catch(() => {}),
    ])
    done.abort()
    const figures = [...this.#latest].map(([source, latest]) => (responded.has(source) ? latest : countsOf(latest)))
    return {
      figures: [this.#ofEnded, ...figures],
      answered: [...responded].filter((source) => this.#latest.has(source)).length,
    }
  }
}
