import {
  allocateBuffers,
  createEngine,
  DONE,
  describeScenario,
  type Engine,
  EngineFault,
  type EnvironmentBuffers,
  PENDING,
} from '../src/engine/index.ts'
import { box, defineScenario, dict, discrete, multiDiscrete, text } from '../src/index.ts'

const ENVIRONMENTS = 3
const STEPS = 30

/** Uses every kind of leaf. Authors' code may use built-ins only before they are tampered with, so this uses none. */
const everything = defineScenario({
  observation: dict({
    numbers: box({ shape: [2], low: -100, high: 100 }),
    side: discrete({ n: 3, start: -1 }),
    pair: multiDiscrete({ nvec: [2, 9] }),
    words: text({ maxTokens: 4, vocabulary: 100 }),
  }),
  action: dict({
    tool: discrete({ n: 3 }),
    knobs: multiDiscrete({ nvec: [2, 2, 2, 2, 2, 2] }),
    gain: box({ shape: [2], low: -1, high: 1 }),
  }),
  maxSteps: 7,
  tasks: { train: 9, eval: 3 },
  reset: ({ rng, task }) => ({ x: rng.normal(), side: 0, step: 0, task: task.index, list: rng.shuffle([0, 1, 2]) }),
  step(state, action, { rng }) {
    state.x += action.gain[0] + action.knobs[5] - rng.pick(state.list)
    state.side = rng.int(3) - 1
    state.step += 1
    return { reward: state.x, terminated: rng() < 0.1 }
  },
  observe: (state) => ({
    words: state.side > 0 ? 'Größe 漢字 über' : 'plain WORDS here',
    pair: [state.side > 0 ? 1 : 0, state.step],
    side: state.side,
    numbers: [state.x, state.task],
  }),
  actionMask: (state) => ({
    tool: [true, state.side > 0, false],
    knobs: [
      [true, true],
      [true, false],
      [true, true],
      [true, true],
      [true, true],
      [true, true],
    ],
  }),
  metrics: (state) => ({ x: state.x }),
})

const faulty = { ...everything, step: () => ({ reward: 'much', terminated: false }) }
const thrower = {
  ...everything,
  step() {
    throw null
  },
}
const promising = { ...everything, reset: async () => ({ x: 1, side: 0, step: 0, task: 0, list: [1] }) }

/** The memory is the host's: it is made before the author's code runs. */
const description = describeScenario(everything)
const memory = () => allocateBuffers(ENVIRONMENTS, description.sizes)
const options = { environments: ENVIRONMENTS, seed: 11, plan: { split: 'train' }, watchTexts: true } as const
const noActions = new Float32Array(ENVIRONMENTS * description.sizes.action)

/** Room for what a run records; filled, so that recording writes to no hole. */
function emptyRecord(): number[] {
  return new Array<number>(100_000).fill(0)
}

function play(buffers: EnvironmentBuffers, into: number[]): void {
  const engine = createEngine(everything, describeScenario(everything), options, buffers)
  let at = 0
  const record = (array: Float32Array | Float64Array | Uint8Array, length: number): void => {
    for (let i = 0; i < length; i += 1, at += 1) into[at] = array[i]
  }
  const { sizes } = description
  engine.reset()
  for (let step = 0; step < STEPS; step += 1) {
    const count = ENVIRONMENTS * sizes.action
    for (let i = 0; i < count; i += 1) buffers.actions[i] = i % sizes.action === 0 ? 0 : (i + step) % 2
    engine.step()
    record(buffers.observations, ENVIRONMENTS * sizes.observation)
    record(buffers.finalObservations, ENVIRONMENTS * sizes.observation)
    record(buffers.masks, ENVIRONMENTS * sizes.mask)
    record(buffers.rewards, ENVIRONMENTS)
    record(buffers.flags, ENVIRONMENTS)
    record(buffers.metrics, ENVIRONMENTS * 32)
  }
  engine.restore(1, 5, noActions)
  record(buffers.observations, ENVIRONMENTS * sizes.observation)
}

function faultMessage(definition: unknown, buffers: EnvironmentBuffers): string {
  const engine = createEngine(definition, description, options, buffers)
  try {
    engine.reset()
    engine.step()
  } catch (thrown) {
    return EngineFault.is(thrown) ? thrown.message : 'no fault of the engine'
  }
  return 'no fault'
}

/** Replaces every function and getter of the built-ins and their prototypes, and adds setters for indices and `get`. */
export function tamper(): void {
  const { getOwnPropertyDescriptor, defineProperty, ownKeys } = Reflect
  const typedArray = Object.getPrototypeOf(Float32Array)
  const arrayIterator = Object.getPrototypeOf([][Symbol.iterator]())
  const targets: object[] = []
  for (const builtIn of [
    Array,
    Object,
    Function,
    Promise,
    Math,
    JSON,
    Number,
    String,
    Symbol,
    RegExp,
    Reflect,
    Error,
  ]) {
    targets.push(builtIn)
    if ('prototype' in builtIn) targets.push(builtIn.prototype)
  }
  for (const builtIn of [
    TypeError,
    RangeError,
    Float32Array,
    Float64Array,
    Int32Array,
    Uint8Array,
    Map,
    Set,
    typedArray,
  ]) {
    targets.push(builtIn, builtIn.prototype)
  }
  targets.push(arrayIterator)
  const length = targets.length
  const lie = function lie(): never {
    throw 'tampered'
  }
  for (let i = 0; i < length; i += 1) {
    const target = targets[i]
    const keys = ownKeys(target)
    for (let k = 0, count = keys.length; k < count; k += 1) {
      const property = getOwnPropertyDescriptor(target, keys[k])
      if (property === undefined || !property.configurable) continue
      if (property.get !== undefined)
        defineProperty(target, keys[k], { __proto__: null, get: lie, configurable: true } as object)
      else if (typeof property.value === 'function')
        defineProperty(target, keys[k], { __proto__: null, value: lie, writable: true, configurable: true } as object)
    }
  }
  const trap = { __proto__: null, get: lie, set: lie, configurable: true } as object
  // The species of a promise would be looked up here.
  defineProperty(Promise.prototype, 'constructor', trap)
  const names = ['0', '1', '2', '3', '9', '10', 'int', 'get', 'set', 'value', 'name', 'train', 'constructor']
  for (let i = 0; i < names.length; i += 1) {
    if (names[i] < 'a') defineProperty(Array.prototype, names[i], trap)
    else defineProperty(Object.prototype, names[i], trap)
  }
}

const before = emptyRecord()
const after = emptyRecord()
const buffers = [memory(), memory(), memory(), memory(), memory()]
let asyncEngine: Engine | undefined

export function playBefore(): void {
  play(buffers[0], before)
}

/** How many of the recorded numbers the tampering changed. */
export function playAfter(): number {
  play(buffers[1], after)
  let differences = 0
  for (let i = 0; i < before.length; i += 1) {
    const bothNaN = before[i] - before[i] !== 0 && after[i] - after[i] !== 0
    if (before[i] !== after[i] && !bothNaN) differences += 1
  }
  return differences
}

export function faultsAfter(): string {
  return `${faultMessage(faulty, buffers[2])}; ${faultMessage(thrower, buffers[3])}`
}

export function startAsync(): string {
  asyncEngine = createEngine(promising, description, options, buffers[4])
  return asyncEngine.reset() === PENDING ? 'waits' : 'does not wait'
}

export function settleAsync(): string {
  try {
    return asyncEngine !== undefined && asyncEngine.settle() === DONE ? 'done' : 'waits'
  } catch (thrown) {
    return EngineFault.is(thrown) ? thrown.message : 'failed'
  }
}

/** Whether the tampering took. */
export function isTampered(): boolean {
  try {
    before.indexOf(1)
    return false
  } catch {
    return true
  }
}
