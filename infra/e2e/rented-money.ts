import type { FakeRunpod } from '@agentgym/testkit/clouds'

const daySeconds = 86_400

/** A machine's time, in seconds. */
type Span = { centsPerHour: number; from: number; until: number }

/**
 * What the machines of a cloud cost, by a clock that a test advances. It knows nothing of what the server has recorded: only
 * which machines the cloud had, and for how long.
 */
export class RentedMoney {
  readonly #cloud: FakeRunpod
  readonly #spans = new Map<string, Span>()
  #passed = 0

  constructor(cloud: FakeRunpod) {
    this.#cloud = cloud
    cloud.started = ({ id, cost }, words) => {
      const from = this.#now()
      const seconds = Number(words[words.indexOf('--end-after') + 1])
      this.#spans.set(id, { centsPerHour: cost * 100, from, until: from + seconds })
    }
  }

  /** As if this long had passed. Returns the machines whose workers end them meanwhile. */
  pass(seconds: number): string[] {
    this.#observe()
    this.#passed += seconds
    return this.#cloud.rented().flatMap(({ id }) => {
      const span = this.#spans.get(id)
      return span !== undefined && span.until <= this.#now() ? [id] : []
    })
  }

  /** US cents of the dearest 24 hours. */
  mostCentsADay(): number {
    this.#observe()
    const spans = [...this.#spans.values()]
    const edges = spans.flatMap(({ from, until }) => [from, until])
    const costs = [...edges, ...edges.map((edge) => edge - daySeconds)].map((start) =>
      spans.reduce((sum, { centsPerHour, from, until }) => {
        const seconds = Math.min(until, start + daySeconds) - Math.max(from, start)
        return sum + (centsPerHour * Math.max(0, seconds)) / 3_600
      }, 0),
    )
    return Math.max(0, ...costs)
  }

  #now(): number {
    return Date.now() / 1_000 + this.#passed
  }

  #observe(): void {
    const live = new Set(this.#cloud.rented().map(({ id }) => id))
    for (const [id, span] of this.#spans) if (!live.has(id)) span.until = Math.min(span.until, this.#now())
  }
}
