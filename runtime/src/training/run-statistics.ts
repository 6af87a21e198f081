import { mean, metricMeans } from '../evaluation/summarize.ts'

const WINDOW = 100

export type EpisodeResult = { return: number; length: number; metrics: Record<string, number> }

/** Means over the last 100 ended episodes; null, never NaN, before the first one ended. */
export class EpisodeStatistics {
  readonly recent: EpisodeResult[] = []
  total = 0

  add(episode: EpisodeResult): void {
    this.recent.push(episode)
    if (this.recent.length > WINDOW) this.recent.shift()
    this.total += 1
  }

  /** Takes over from a checkpoint. */
  restore(recent: EpisodeResult[], total: number): void {
    this.recent.push(...recent.slice(-WINDOW))
    this.total = total
  }

  get returnMean(): number | null {
    return mean(this.recent.map((episode) => episode.return))
  }

  get lengthMean(): number | null {
    return mean(this.recent.map((episode) => episode.length))
  }

  /** Mean of each metric over those recent episodes that reported it. */
  get metricMeans(): Record<string, number> {
    return metricMeans(this.recent.map((episode) => episode.metrics))
  }
}

export type CurvePoint = {
  /** Environment steps. */
  steps: number
  /** Mean return of the last 100 ended episodes; null before the first. */
  return_mean: number | null
}

const MAX_POINTS = 400

/** Keeps a curve short enough to draw and to checkpoint: beyond 400 points every second one is dropped, never the last. */
export function appendToCurve(curve: CurvePoint[], point: CurvePoint): CurvePoint[] {
  const extended = [...curve, point]
  return extended.length <= MAX_POINTS ? extended : extended.filter((_, i) => i % 2 === (extended.length - 1) % 2)
}

export type RunClock = ReturnType<typeof startClock>

/** Counts a run's training time; `secondsBefore` are those of the parts that a resumed run continues. */
export function startClock(secondsBefore: number) {
  const started = performance.now()
  let marked = started
  return {
    /** Training time of the run, earlier parts of a resumed one included. */
    seconds: () => secondsBefore + (performance.now() - started) / 1000,
    mark: () => {
      marked = performance.now()
    },
    secondsSinceMark: () => (performance.now() - marked) / 1000,
  }
}
