import type { EpisodeContext } from '../define-scenario.ts'
import type { EpisodeSlot } from './environment.ts'
import { type EnvironmentBuffers, PHASE_ORACLE, PHASE_RULES } from './environment-buffers.ts'
import { describeValue, Problem, printable } from './faults.ts'
import { boundsOf, refusePromise } from './observation-encoder.ts'
import {
  append,
  fround,
  isArray,
  isInteger,
  lengthOfTypedArray,
  nullObject,
  objectHasOwn,
  objectKeys,
  typedArrayName,
} from './primordials.ts'
import {
  PURPOSE_ORACLE,
  PURPOSE_ORACLE_MATH_RANDOM,
  PURPOSE_RULES,
  PURPOSE_RULES_MATH_RANDOM,
  type RandomStream,
  type Rng,
  rngOf,
} from './random-stream.ts'
import type { ScenarioCallbacks, ScenarioDescription } from './read-definition.ts'
import {
  type BoxDescription,
  columnsOf,
  type DictDescription,
  type DiscreteDescription,
  logitsOf,
  type MultiDiscreteDescription,
  type SpaceDescription,
} from './read-space.ts'

/** The author's players: an oracle, which sees the state, and rules, which see what an agent sees. */
export type Script = 'oracle' | 'rules'

const scripts = {
  oracle: { phase: PHASE_ORACLE, rng: PURPOSE_ORACLE, mathRandom: PURPOSE_ORACLE_MATH_RANDOM },
  rules: { phase: PHASE_RULES, rng: PURPOSE_RULES, mathRandom: PURPOSE_RULES_MATH_RANDOM },
} as const

/** What one environment's player draws from: streams that `reset` and `step` never touch. */
type ScriptStreams = { rng: Rng; draws: RandomStream; mathRandom: RandomStream; episode: unknown }

/** Plays a script of the author: asks for the action of a state and writes it, checked, into the environment's action row. */
export class ScriptedPlayer {
  /** Index into `phases`. */
  readonly phase: number
  readonly #script: Script
  readonly #callbacks: ScenarioCallbacks
  readonly #buffers: EnvironmentBuffers
  readonly #write: ActionWriter
  readonly #columns: number
  readonly #maskColumns: number
  readonly #streams: ScriptStreams[] = []

  constructor(
    script: Script,
    callbacks: ScenarioCallbacks,
    { action, sizes }: ScenarioDescription,
    buffers: EnvironmentBuffers,
  ) {
    this.phase = scripts[script].phase
    this.#script = script
    this.#callbacks = callbacks
    this.#buffers = buffers
    this.#write = actionWriter(action, script === 'oracle' ? "oracle's action" : 'action of the rules')
    this.#columns = sizes.action
    this.#maskColumns = sizes.mask
  }

  /** Streams of the episode that `slot` plays; `slots` are asked in the order of their rows. */
  begin(slot: EpisodeSlot): ScriptStreams {
    if (slot.row >= this.#streams.length) {
      const draws = slot.stream(scripts[this.#script].rng)
      const mathRandom = slot.stream(scripts[this.#script].mathRandom)
      append(this.#streams, { rng: rngOf(draws), draws, mathRandom, episode: null })
    }
    const streams = this.#streams[slot.row]
    // The context is a new object every episode, also if the same episode begins again.
    if (streams.episode !== slot.context) {
      streams.episode = slot.context
      streams.draws.begin(slot.episode)
      streams.mathRandom.begin(slot.episode)
    }
    return streams
  }

  play(slot: EpisodeSlot, { rng }: ScriptStreams): void {
    const action = this.#script === 'oracle' ? this.#askOracle(slot, rng) : this.#askRules(slot, rng)
    refusePromise(action, this.#script)
    const { actions, masks } = this.#buffers
    const mask = this.#maskColumns === 0 ? null : masks
    this.#write(action, actions, slot.row * this.#columns, mask, slot.row * this.#maskColumns)
  }

  #askOracle(slot: EpisodeSlot, rng: Rng): unknown {
    const { task, level } = slot.context as EpisodeContext
    return this.#callbacks.oracle?.(slot.state, { rng, task, level })
  }

  /** Rules know neither state nor task. */
  #askRules(slot: EpisodeSlot, rng: Rng): unknown {
    const observation = this.#callbacks.observe(slot.state)
    const mask = this.#callbacks.actionMask === null ? null : this.#callbacks.actionMask(slot.state)
    return this.#callbacks.rules?.(observation, { rng, mask })
  }
}

/**
 * The inverse of an `ActionDecoder`: writes an action in the form that `step` receives. Throws a Problem for one that does not
 * fit the space or that the mask does not allow. `mask` is null where everything is legal.
 */
export type ActionWriter = (
  action: unknown,
  row: Float32Array,
  offset: number,
  mask: Uint8Array | null,
  at: number,
) => void

const HINT = 'Return what step receives: one legal action of the action space.'

function invalid(path: string, what: string): never {
  throw new Problem('scenario_invalid', `${path} ${what}`, HINT)
}

function requireLegal(mask: Uint8Array | null, at: number, path: string, choice: string): void {
  if (mask !== null && mask[at] !== 1) invalid(path, `is ${choice}, which is not legal in this state`)
}

function discreteWriter({ n, start, labels }: DiscreteDescription, path: string): ActionWriter {
  return (action, row, offset, mask, at) => {
    if (!isInteger(action) || action < start || action >= start + n) {
      invalid(path, `is ${describeValue(action)} where an integer from ${start} to ${start + n - 1} belongs`)
    }
    const index = action - start
    requireLegal(mask, at + index, path, labels === undefined ? `${action}` : `"${printable(labels[index], 64)}"`)
    row[offset] = index
  }
}

function lengthOf(action: unknown, path: string): unknown {
  if (isArray(action)) return action.length
  if (typedArrayName(action) !== undefined) return lengthOfTypedArray(action as object)
  return invalid(path, `is ${describeValue(action)} where a list of numbers belongs`)
}

function multiDiscreteWriter({ nvec }: MultiDiscreteDescription, path: string): ActionWriter {
  return (action, row, offset, mask, at) => {
    const length = lengthOf(action, path)
    if (length !== nvec.length) invalid(path, `has ${describeValue(length)} entries where the space has ${nvec.length}`)
    let column = at
    for (let i = 0; i < nvec.length; i += 1) {
      const value = (action as readonly unknown[])[i]
      if (!isInteger(value) || value < 0 || value >= nvec[i]) {
        invalid(`${path}[${i}]`, `is ${describeValue(value)} where an integer from 0 to ${nvec[i] - 1} belongs`)
      }
      requireLegal(mask, column + value, `${path}[${i}]`, `${value}`)
      row[offset + i] = value
      column += nvec[i]
    }
  }
}

function boxWriter(space: BoxDescription, path: string): ActionWriter {
  const size = space.low.length
  const low = boundsOf(space.low, -Infinity)
  const high = boundsOf(space.high, Infinity)
  const writeNumber = (value: unknown, i: number, row: Float32Array, offset: number, place: string) => {
    const rounded = typeof value === 'number' ? fround(value) : NaN
    // The difference is NaN for NaN and the infinities.
    if (rounded - rounded !== 0) invalid(place, `is ${describeValue(value)} where a finite number belongs`)
    if (!(rounded >= low[i] && rounded <= high[i]))
      invalid(place, `is ${describeValue(value)}, outside its bounds ${low[i]} to ${high[i]}`)
    if (space.integer === true && !isInteger(value)) invalid(place, `is ${describeValue(value)}, not an integer`)
    row[offset + i] = rounded
  }
  if (space.shape.length === 0) return (action, row, offset) => writeNumber(action, 0, row, offset, path)
  return (action, row, offset) => {
    const length = lengthOf(action, path)
    if (length !== size) invalid(path, `has ${describeValue(length)} numbers where the space has ${size}`)
    for (let i = 0; i < size; i += 1) {
      writeNumber((action as readonly unknown[])[i], i, row, offset, `${path}[${i}]`)
    }
  }
}

type Part = { name: string; write: ActionWriter; offset: number; at: number }

function dictWriter({ entries, choice }: DictDescription, path: string): ActionWriter {
  const parts: Part[] = []
  const known = nullObject<boolean>()
  let columns = 0
  let logits = 0
  let labels: readonly string[] = []
  let first = 0
  for (let i = 0; i < entries.length; i += 1) {
    const { name, space } = entries[i]
    known[name] = true
    if (name === choice && space.type === 'discrete') {
      labels = space.labels ?? []
      first = space.start
    }
    append(parts, { name, write: actionWriter(space, `${path}.${name}`), offset: columns, at: logits })
    columns += columnsOf(space)
    logits += logitsOf(space)
  }
  return (action, row, offset, mask, at) => {
    if (typeof action !== 'object' || action === null) {
      invalid(path, `is ${describeValue(action)} where an object belongs`)
    }
    const keys = objectKeys(action)
    for (let i = 0; i < keys.length; i += 1) {
      if (known[keys[i]] !== true) invalid(path, `has ${describeValue(keys[i])}, which the action space does not have`)
    }
    const given = action as Record<string, unknown>
    const chosen = choice === undefined ? null : labels[(given[choice] as number) - first]
    for (let i = 0; i < parts.length; i += 1) {
      const { name, write, offset: column, at: logit } = parts[i]
      if (chosen === null || name === choice || name === chosen) {
        write(given[name], row, offset + column, mask, at + logit)
        continue
      }
      // Of a tool that is not called: it means nothing.
      if (objectHasOwn(given, name)) invalid(path, `has "${name}", which belongs to another choice`)
      const end = i + 1 < parts.length ? parts[i + 1].offset : columns
      for (let j = column; j < end; j += 1) row[offset + j] = 0
    }
  }
}

/** Compiles an action space into the writer of its actions; `path` begins its messages. */
export function actionWriter(space: SpaceDescription, path: string): ActionWriter {
  switch (space.type) {
    case 'discrete':
      return discreteWriter(space, path)
    case 'multiDiscrete':
      return multiDiscreteWriter(space, path)
    case 'box':
      return boxWriter(space, path)
    case 'dict':
      return dictWriter(space, path)
    default:
      return () => undefined
  }
}
