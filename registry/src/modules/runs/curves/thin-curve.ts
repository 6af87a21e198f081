import type { ProgressEvent } from '@agentgym/contract'

/** What a curve keeps once it is thinned. */
const mostPoints = 1_000
/** Of held-out evaluations; evenly spaced ones of more. */
const mostEvaluations = 200
/** Of the scenario's metrics, those whose extremes are kept: the first by name. */
const mostMetrics = 20

type Point = { data: Pick<ProgressEvent, 'iteration' | 'return_mean' | 'metrics'> }

/**
 * At most `most` points of a curve that has the same shape. A curve of no more points stays as it is. Of a longer one stay the
 * first, the last, the points at held-out evaluations, those with the lowest and the highest value of each metric, and, of equal
 * parts of the iterations, the points with the lowest and the highest return; of a part in which no episode had ended, its last.
 *
 * Reads `points`, in order, once: a curve of a million iterations is never in memory whole.
 */
export async function thinCurve<Type extends Point>(
  points: AsyncIterable<Type> | Iterable<Type>,
  {
    count,
    last,
    evaluations,
    most = mostPoints,
  }: { count: number; last: number; evaluations: number[]; most?: number },
): Promise<Type[]> {
  const kept = new Map<number, Type>()
  const keep = (point: Type | undefined) => void (point && kept.set(point.data.iteration, point))
  if (count <= most) {
    for await (const point of points) keep(point)
    return inOrder(kept)
  }
  const evaluated = new Set(evenly(evaluations, Math.min(mostEvaluations, Math.floor(most / 5))))
  const parts = new Parts<Type>(keep)
  const metrics = new Extremes<Type>(Math.min(mostMetrics, Math.floor(most / 50)))
  // Two of each part, the first, the last, the evaluations, and two of each metric.
  const reserved = 2 + evaluated.size + 2 * metrics.most
  const width = Math.max(1, last / Math.max(1, Math.floor((most - reserved) / 2)))
  let latest: Type | undefined
  for await (const point of points) {
    if (latest === undefined || evaluated.has(point.data.iteration)) keep(point)
    parts.add(Math.floor((point.data.iteration - 1) / width), point)
    for (const [name, value] of Object.entries(point.data.metrics)) metrics.add(name, value, point)
    latest = point
  }
  parts.end()
  keep(latest)
  for (const point of metrics.points()) keep(point)
  return inOrder(kept)
}

/** Of each part the points with the lowest and the highest return. */
class Parts<Type extends Point> {
  readonly #keep: (point: Type) => void
  #part = -1
  #lowest: Type | undefined
  #highest: Type | undefined
  #last: Type | undefined

  constructor(keep: (point: Type) => void) {
    this.#keep = keep
  }

  add(part: number, point: Type): void {
    if (part !== this.#part) this.end()
    this.#part = part
    this.#last = point
    const { return_mean: value } = point.data
    if (value === null) return
    if (this.#lowest === undefined || value < Number(this.#lowest.data.return_mean)) this.#lowest = point
    if (this.#highest === undefined || value > Number(this.#highest.data.return_mean)) this.#highest = point
  }

  end(): void {
    for (const point of this.#lowest === undefined ? [this.#last] : [this.#lowest, this.#highest])
      if (point !== undefined) this.#keep(point)
    this.#lowest = this.#highest = this.#last = undefined
  }
}

/** The points at which each metric is lowest and highest. */
class Extremes<Type> {
  readonly most: number
  readonly #metrics = new Map<string, { low: number; high: number; lowest: Type; highest: Type }>()

  constructor(most: number) {
    this.most = most
  }

  add(name: string, value: number, point: Type): void {
    const known = this.#metrics.get(name)
    if (known === undefined) {
      this.#metrics.set(name, { low: value, high: value, lowest: point, highest: point })
      return
    }
    if (value < known.low) Object.assign(known, { low: value, lowest: point })
    if (value > known.high) Object.assign(known, { high: value, highest: point })
  }

  points(): Type[] {
    const first = [...this.#metrics].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, this.most)
    return first.flatMap(([, { lowest, highest }]) => [lowest, highest])
  }
}

function evenly(values: number[], most: number): number[] {
  if (values.length <= most) return values
  return Array.from({ length: most }, (_, index) => values[Math.floor((index * (values.length - 1)) / (most - 1))])
}

function inOrder<Type extends Point>(kept: Map<number, Type>): Type[] {
  return [...kept.values()].sort((a, b) => a.data.iteration - b.data.iteration)
}
