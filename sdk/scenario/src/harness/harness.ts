import {
  BOARD_PHASE,
  createEngine,
  describeScenario,
  describeThrown,
  type Engine,
  EngineFault,
  type EnvironmentBuffers,
  isDefinitionError,
  type Phase,
  type PlayedEpisodes,
  phases,
  type ScenarioDescription,
} from '../engine/index.ts'
import { keepLogs, noteLog, takeLogs } from './guest-console.ts'
import { hardenRealm } from './harden-realm.ts'
import { createRandom } from './load-random.ts'
import { type IntrinsicsRecord, recordIntrinsics } from './record-intrinsics.ts'

/**
 * What the host calls, by reference. It runs in the author's realm, from whom it keeps everything: all of this lives in
 * closures; built-ins are taken before the author's code runs. Nothing but numbers and capped strings leaves, and no
 * thrown value ever does: isolated-vm copies those outside its timeout.
 */
export type Harness = {
  load(
    factory: (module: object, exports: object, require: unknown) => void,
    board: Int32Array,
    options: LoadOptions,
  ): number
  description(): string
  start(host: StartOptions): number
  reset(episode: number): number
  step(): number
  settle(): number
  oracle(): number
  rules(): number
  restore(environment: number, episode: number, actions: Float32Array, seed?: number): number
  metricNames(): string
  watchedTexts(): string
  observationJson(): string
  /** Draws the first row's state; `sceneText` reads the picture. */
  scene(final: boolean): number
  sceneText(): string
  logs(): string
  fault(): string
  alteredIntrinsics(): string
}

export type LoadOptions = {
  /** Keeps a record of the built-ins, for `alteredIntrinsics`. */
  recordBuiltIns: boolean
  /** Keeps what the author logs, for `logs`. */
  logs: boolean
}

export type StartOptions = {
  environments: number
  seed: number
  split: 'train' | 'eval'
  /** Evaluation only. */
  episodes: number
  taskOrder: 'numbered' | 'drawn'
  /** Null: the episodes of the evaluation itself. */
  apartFrom: readonly PlayedEpisodes[] | null
  /** Training in groups; 0: none. */
  groupSize: number
  firstEnvironment: number
  watchTexts: boolean | 'all'
  watchScenes: boolean
  watchObservations: boolean
  buffers: EnvironmentBuffers
}

/** Third status beside the engine's DONE (0) and PENDING (1). */
export const FAULT = 2

const { stringify } = JSON
const PlainError = Error

/** Virtual time while a scenario loads: 2025-01-01T00:00:00Z, as at an episode's start. */
const LOAD_TIME_MS = 1_735_689_600_000

const DEFINITION_HINT = 'Mend the definition; the scenario contract is in the README of @agentgym/scenario.'

let engine: Engine | undefined
let definition: unknown
let description: ScenarioDescription | undefined
let fault = ''
let scene = ''
let record: IntrinsicsRecord | undefined
let board: Int32Array | undefined

const loadRandom = createRandom()
hardenRealm({
  random: () => (engine === undefined ? loadRandom() : engine.currentRandom()),
  now: () => (engine === undefined ? LOAD_TIME_MS : engine.currentTime()),
  log: (level, values) => noteLog(board, level, values),
})

function note(board: Int32Array, phase: Phase): void {
  let index = 0
  while (phases[index] !== phase) index += 1
  board[BOARD_PHASE] = index
}

function require(name: unknown): never {
  const shown = typeof name === 'string' ? `"${name}"` : 'that'
  throw new PlainError(`require(${shown}): a scenario is one bundle and can load nothing more`)
}

/** Runs `operation`; whatever it throws becomes a fault as data. */
function guarded(phase: Phase, operation: () => number): number {
  try {
    return operation()
  } catch (thrown) {
    fault = describeFault(phase, thrown)
    return FAULT
  }
}

function describeFault(phase: Phase, thrown: unknown): string {
  if (EngineFault.is(thrown)) {
    const { code, message, hint, environment, step, episode, detail } = thrown
    return stringify({ __proto__: null, code, message, hint, phase: thrown.phase, environment, step, episode, detail })
  }
  const { message, stack } = describeThrown(thrown)
  if (phase === 'load' && isDefinitionError(thrown))
    return stringify({ __proto__: null, code: 'scenario_invalid', message, hint: DEFINITION_HINT, phase: 'define' })
  const code = phase === 'load' ? 'scenario_threw' : 'harness'
  const what = phase === 'load' ? `load threw: ${message}` : message
  return stringify({ __proto__: null, code, message: what, hint: '', phase, detail: stack })
}

export const harness: Harness = {
  load(factory, shared, { recordBuiltIns, logs }) {
    board = shared
    if (recordBuiltIns) record = recordIntrinsics()
    if (logs) keepLogs()
    note(shared, 'load')
    const loaded = guarded('load', () => {
      const module = { exports: {} as { default?: unknown } }
      factory(module, module.exports, require)
      definition = module.exports.default ?? module.exports
      return 0
    })
    if (loaded === FAULT) return FAULT
    note(shared, 'define')
    const defined = guarded('define', () => {
      description = describeScenario(definition)
      return 0
    })
    if (defined !== FAULT) note(shared, 'idle')
    return defined
  },
  description: () => stringify(description),
  start({
    buffers,
    split,
    episodes,
    taskOrder,
    apartFrom,
    groupSize,
    environments,
    seed,
    firstEnvironment,
    watchTexts,
    watchScenes,
    watchObservations,
  }) {
    const training =
      groupSize === 0 ? { split: 'train' as const, taskOrder } : { split: 'train' as const, groupSize, taskOrder }
    const evaluation = { split: 'eval' as const, episodes, taskOrder }
    const heldOut = apartFrom === null ? evaluation : { ...evaluation, apartFrom }
    const plan = split === 'eval' ? heldOut : training
    note(buffers.board, 'define')
    return guarded('harness', () => {
      if (description === undefined) throw new PlainError('nothing has been loaded')
      const options = { environments, seed, plan, firstEnvironment, watchTexts, watchScenes, watchObservations }
      engine = createEngine(definition, description, options, buffers)
      return 0
    })
  },
  reset: (episode) => guarded('harness', () => current().reset(episode)),
  step: () => guarded('harness', () => current().step()),
  settle: () => guarded('harness', () => current().settle()),
  oracle: () => guarded('harness', () => current().oracle()),
  rules: () => guarded('harness', () => current().rules()),
  restore: (environment, episode, actions, seed) =>
    guarded('harness', () => current().restore(environment, episode, actions, seed)),
  metricNames: () => stringify(current().metricNames()),
  watchedTexts: () => current().watchedTexts(),
  observationJson: () => current().observationJson(),
  scene: (final) =>
    guarded('render', () => {
      scene = current().scene(final)
      return 0
    }),
  sceneText: () => scene,
  logs: () => takeLogs(),
  fault: () => fault,
  alteredIntrinsics: () => record?.altered() ?? '',
}

function current(): Engine {
  if (engine === undefined) throw new PlainError('the engine has not been started')
  return engine
}
