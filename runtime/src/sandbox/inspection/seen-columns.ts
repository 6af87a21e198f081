import { actionLeaves, observationLeaves } from '@agentgym/scenario/engine'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import type { ScenarioDescription } from '../vector-environment.ts'

const MOST_COLUMNS = 4_096

/** Which columns of the observation ever change, over all that is shown. */
export class ColumnRanges {
  readonly #low: Float32Array
  readonly #high: Float32Array
  observations = 0

  constructor({ sizes }: ScenarioDescription) {
    const columns = Math.min(sizes.observation, MOST_COLUMNS)
    this.#low = new Float32Array(columns).fill(Number.POSITIVE_INFINITY)
    this.#high = new Float32Array(columns).fill(Number.NEGATIVE_INFINITY)
  }

  note({ buffers, description, environments }: SandboxedEnvironment): void {
    const width = description.sizes.observation
    this.observations += environments
    for (let row = 0; row < environments; row++) {
      for (let column = 0; column < this.#low.length; column++) {
        const value = buffers.observations[row * width + column]
        if (value < this.#low[column]) this.#low[column] = value
        if (value > this.#high[column]) this.#high[column] = value
      }
    }
  }

  /** Columns that always had one value. */
  constant(): number[] {
    return Array.from(this.#low.keys()).filter((column) => this.#low[column] === this.#high[column])
  }
}

/** `view[3]`, or the number of a column where the observation is no dict. */
export function columnName({ observation }: ScenarioDescription, column: number): string {
  const leaf = observationLeaves(observation).find(({ offset, size }) => column >= offset && column < offset + size)
  if (leaf === undefined) return `column ${column}`
  return observation.type === 'dict' ? `${leaf.name}[${column - leaf.offset}]` : `observation[${column}]`
}

/** Constant numbers by what they belong to: a whole leaf, a channel of an image, or a single number. Texts and lists may be short. */
export function describeConstants(description: ScenarioDescription, constant: readonly number[]): string[] {
  const all = new Set(constant)
  return observationLeaves(description.observation).flatMap((leaf) => {
    const { kind, offset, size, shape, slots, name } = leaf
    if (kind === 'text' || slots !== undefined) return []
    const columns = Array.from({ length: Math.min(size, MOST_COLUMNS - offset) }, (_, i) => offset + i)
    if (columns.length > 1 && columns.every((column) => all.has(column))) return [name]
    // Single squares of a board may well never change; a whole channel should.
    if (shape.length >= 2) return constantChannels(name, shape, (column) => all.has(offset + column))
    return columns.filter((column) => all.has(column)).map((column) => columnName(description, column))
  })
}

function constantChannels(name: string, shape: readonly number[], isConstant: (column: number) => boolean): string[] {
  const area = shape.slice(1).reduce((product, length) => product * length, 1)
  const channels = Array.from({ length: shape[0] }, (_, channel) => channel)
  const whole = (channel: number) =>
    Array.from({ length: area }, (_, i) => channel * area + i).every((column) => isConstant(column))
  return channels.filter(whole).map((channel) => `channel ${channel} of ${name}`)
}

const MOST_SAMPLES = 4_000
const PROBED_COLUMNS = 512
const MOST_VALUES = 64
const BINS = 16

/** Observations with what the oracle did there. `group` keeps the samples of an episode together. */
export class OracleSamples {
  readonly #width: number
  readonly #observations: Float32Array[] = []
  readonly #actions: Float32Array[] = []
  readonly #groups: number[] = []

  constructor({ sizes }: ScenarioDescription) {
    this.#width = Math.min(sizes.observation, PROBED_COLUMNS)
  }

  get size(): number {
    return this.#groups.length
  }

  /** How many different observations there are. */
  distinct(): number {
    return new Set(this.#observations.map((row) => row.join())).size
  }

  note({ buffers, description, environments }: SandboxedEnvironment, idle: number): void {
    const { observation, action } = description.sizes
    for (let row = 0; row < environments && this.size < MOST_SAMPLES; row++) {
      if ((buffers.flags[row] & idle) !== 0) continue
      this.#observations.push(buffers.observations.slice(row * observation, row * observation + this.#width))
      this.#actions.push(buffers.actions.slice(row * action, (row + 1) * action))
      this.#groups.push(row)
    }
  }

  /** For every categorical component of the action, the column that says most of it. */
  probe(description: ScenarioDescription): ColumnRule[] {
    const rules: ColumnRule[] = []
    for (const leaf of actionLeaves(description.action)) {
      if (leaf.kind === 'box') continue
      for (let component = 0; component < leaf.counts.length; component++) {
        const { when } = leaf
        const kept = this.#indices((action) => when === undefined || action[when.column] === when.choice)
        const rule = this.#bestColumn(kept, leaf.offset + component)
        if (rule !== null) rules.push({ ...rule, component: leaf.name, index: leaf.offset + component })
      }
    }
    return rules
  }

  #indices(keep: (action: Float32Array) => boolean): number[] {
    return Array.from(this.#groups.keys()).filter((sample) => keep(this.#actions[sample]))
  }

  #bestColumn(samples: number[], answer: number): Omit<ColumnRule, 'component' | 'index'> | null {
    const answers = samples.map((sample) => this.#actions[sample][answer])
    const learned = samples.map((sample) => this.#groups[sample] % 2 === 0)
    const counts = { learned: learned.filter(Boolean).length, held: learned.filter((one) => !one).length }
    if (counts.learned < 30 || counts.held < 30) return null
    const usual = majority(answers.filter((_, i) => learned[i]))
    const chance = share(answers, learned, () => usual)
    let best: Omit<ColumnRule, 'component' | 'index'> | null = null
    for (let column = 0; column < this.#width; column++) {
      const values = samples.map((sample) => this.#observations[sample][column])
      const bins = binsOf(values.filter((_, i) => learned[i]))
      const rule = new Map<number, number[]>()
      values.forEach((value, i) => {
        if (!learned[i]) return
        const bin = bins(value)
        const list = rule.get(bin)
        if (list === undefined) rule.set(bin, [answers[i]])
        else list.push(answers[i])
      })
      const table = new Map(Array.from(rule, ([bin, list]) => [bin, majority(list)]))
      const choose = (value: number) => table.get(bins(value)) ?? usual
      const accuracy = share(answers, learned, (i) => choose(values[i]))
      if (best === null || accuracy > best.accuracy)
        best = { column, accuracy, chance, samples: samples.length, choose }
    }
    return best
  }
}

/** What a single number of the observation says of one component of the oracle's action. */
export type ColumnRule = {
  component: string
  /** Column of the action row. */
  index: number
  /** Column of the observation row. */
  column: number
  /** Share of held-out samples in which a table over the column's values gives the oracle's choice. */
  accuracy: number
  /** The same for always the most frequent choice. */
  chance: number
  samples: number
  choose(value: number): number
}

/** Share of the samples that were not learned from for which `guess` is right. */
function share(answers: readonly number[], learned: readonly boolean[], guess: (sample: number) => number): number {
  let right = 0
  let all = 0
  answers.forEach((answer, i) => {
    if (learned[i]) return
    all += 1
    if (guess(i) === answer) right += 1
  })
  return right / all
}

/** Values one by one where there are few, else between quantiles. */
function binsOf(values: readonly number[]): (value: number) => number {
  if (new Set(values).size <= MOST_VALUES) return (value) => value
  const sorted = Float32Array.from(values).sort()
  const edges = Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)])
  return (value) => edges.filter((edge) => value >= edge).length
}

function majority(answers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  let best = answers[0]
  for (const [answer, count] of counts) if (count > (counts.get(best) ?? 0)) best = answer
  return best
}
