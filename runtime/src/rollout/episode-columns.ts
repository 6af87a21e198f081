import { MAX_METRICS } from '@agentgym/scenario/engine'

/** One ended episode. */
export type EpisodeRecord = {
  /** Global number of the environment. */
  environment: number
  episode: number
  return: number
  length: number
  metrics: Record<string, number>
}

const COLUMNS = 4 + MAX_METRICS

/** Ended episodes as one array of numbers, which crosses threads as a whole: a rollout may end thousands of them. */
export class EpisodeColumns {
  count = 0
  metricNames: string[] = []
  #rows = new Float64Array(COLUMNS * 16)

  /** `metrics` holds MAX_METRICS numbers from `offset` on; NaN: absent. */
  add(
    environment: number,
    episode: number,
    episodeReturn: number,
    length: number,
    metrics: Float64Array,
    offset: number,
  ): void {
    const at = this.count * COLUMNS
    if (at === this.#rows.length) {
      const larger = new Float64Array(this.#rows.length * 2)
      larger.set(this.#rows)
      this.#rows = larger
    }
    this.#rows[at] = environment
    this.#rows[at + 1] = episode
    this.#rows[at + 2] = episodeReturn
    this.#rows[at + 3] = length
    for (let i = 0; i < MAX_METRICS; i++) this.#rows[at + 4 + i] = metrics[offset + i]
    this.count += 1
  }

  /** What a message to another thread carries. */
  pack(): PackedEpisodes {
    return { metricNames: this.metricNames, rows: this.#rows.slice(0, this.count * COLUMNS) }
  }

  static unpack({ metricNames, rows }: PackedEpisodes): EpisodeRecord[] {
    const records: EpisodeRecord[] = []
    for (let at = 0; at < rows.length; at += COLUMNS) {
      const reported = metricNames.map((name, i) => [name, rows[at + 4 + i]] as const)
      const metrics = Object.fromEntries(reported.filter(([, value]) => !Number.isNaN(value)))
      records.push({
        environment: rows[at],
        episode: rows[at + 1],
        return: rows[at + 2],
        length: rows[at + 3],
        metrics,
      })
    }
    return records
  }
}

export type PackedEpisodes = { metricNames: string[]; rows: Float64Array }
