import { describeValue } from './describe-value.ts'
import { Problem } from './engine-fault.ts'
import { MAX_METRICS } from './environment-buffers.ts'
import { refusePromise } from './observation-encoder.ts'
import { append, nullObject, objectKeys, regExpExec } from './primordials.ts'

const METRIC_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

function invalid(what: string, hint = ''): never {
  throw new Problem('metrics_invalid', what, hint)
}

/** Columns of the metrics rows: the names of the first episode that ended. */
export class MetricsTable {
  readonly #names: string[] = []
  readonly #columns = nullObject<number>()
  #fixed = false

  names(): string[] {
    const copy: string[] = []
    for (let i = 0; i < this.#names.length; i += 1) append(copy, this.#names[i])
    return copy
  }

  /** Writes one episode's metrics into its row, NaN where one is absent; throws a Problem where they are no numbers. */
  write(metrics: unknown, row: Float64Array, offset: number): void {
    if (typeof metrics !== 'object' || metrics === null) {
      invalid(`metrics returned ${describeValue(metrics)}`, 'Return an object of numbers by name.')
    }
    const keys = objectKeys(metrics)
    if (!this.#fixed) this.#fix(keys, metrics)
    for (let i = 0; i < this.#names.length; i += 1) row[offset + i] = NaN
    for (let i = 0; i < keys.length; i += 1) {
      const name = keys[i]
      const column = this.#columns[name]
      if (column === undefined) {
        refusePromise(metrics, 'metrics')
        invalid(
          `metric ${describeValue(name)} was not among those of the first episode`,
          'Return the same names every time.',
        )
      }
      const value = (metrics as Record<string, unknown>)[name]
      if (typeof value !== 'number' || value - value !== 0) {
        invalid(
          `metric "${name}" is ${describeValue(value)}, not a finite number`,
          'Leave out a metric that has no value.',
        )
      }
      row[offset + column] = value
    }
  }

  #fix(keys: readonly string[], metrics: object): void {
    refusePromise(metrics, 'metrics')
    if (keys.length > MAX_METRICS) invalid(`metrics has ${keys.length} names; at most ${MAX_METRICS}`)
    for (let i = 0; i < keys.length; i += 1) {
      const name = keys[i]
      if (regExpExec(METRIC_NAME, name) === null) {
        invalid(
          `${describeValue(name)} is not a metric's name: a letter, then letters, digits, _ . or -, at most 64 in all`,
        )
      }
      append(this.#names, name)
      this.#columns[name] = i
    }
    this.#fixed = true
  }
}
