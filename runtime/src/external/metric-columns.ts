import { MAX_METRICS } from '@agentgym/scenario/engine'

/** Metrics of ended episodes by name: a column belongs to the first name that asks for it, and keeps it. */
export class MetricColumns {
  readonly names: string[] = []

  /**
   * `values` is [ended episodes, names], in order of their environments; `columns` [environments, MAX_METRICS], NaN where
   * an episode lacks a metric. Metrics beyond the columns, and those that are not finite, are left out.
   */
  write(
    { names, values }: { names: readonly string[]; values: Float64Array },
    ended: Uint8Array,
    columns: Float64Array,
  ): void {
    const places = names.map((name) => this.#columnOf(name))
    let episode = 0
    ended.forEach((flag, row) => {
      if (flag === 0) return
      columns.fill(Number.NaN, row * MAX_METRICS, (row + 1) * MAX_METRICS)
      places.forEach((column, i) => {
        const value = values[episode * names.length + i]
        if (column < MAX_METRICS && Number.isFinite(value)) columns[row * MAX_METRICS + column] = value
      })
      episode += 1
    })
  }

  #columnOf(name: string): number {
    const known = this.names.indexOf(name)
    if (known >= 0) return known
    if (this.names.length === MAX_METRICS) return MAX_METRICS
    return this.names.push(name) - 1
  }
}
