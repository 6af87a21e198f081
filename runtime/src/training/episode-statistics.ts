import { mean, metricMeans } from '../evaluation/means.ts'

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
