import type { EpisodeContext, ScenarioDefinition, StepResult, Task } from '../define-scenario.ts'
import { actionDecoder } from '../engine/action-codec.ts'
import { allocateBuffers, type EnvironmentBuffers, TERMINATED, TRUNCATED } from '../engine/environment-buffers.ts'
import { EngineFault, Problem } from '../engine/faults.ts'
import { describeScenario, type ScenarioDescription } from '../engine/read-definition.ts'
import { actionWriter } from '../engine/scripted-player.ts'
import { createEngine, type Engine, PENDING, type Progress } from '../engine/vector-engine.ts'
import type {
  ActionSpace,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  ListSpace,
  MultiDiscreteSpace,
  Space,
  TextSpace,
} from '../spaces.ts'
import { withEpisodeGlobals } from './episode-globals.ts'
import { actionWithoutNames } from './named-actions.ts'

/** What `observe` returned, with plain arrays in place of typed arrays. */
export type PlainSampleOf<S extends Space> = S extends BoxSpace
  ? number[]
  : S extends DiscreteSpace
    ? number
    : S extends MultiDiscreteSpace
      ? number[]
      : S extends TextSpace
        ? string
        : S extends ListSpace
          ? { id: string; features: number[] }[]
          : S extends DictSpace<infer Entries>
            ? { [Name in keyof Entries]: PlainSampleOf<Entries[Name]> }
            : never

/**
 * An action as a test writes it: what `step` receives, with labels in place of numbers where the scenario has them (`'left'`).
 * In a tool scenario also a call as an oracle writes it: `{ tool: 'refund', arguments: { reason: 'late' } }`.
 */
export type PlayedAction = number | string | ArrayLike<number> | { readonly [name: string]: unknown }

/** Chooses the next action; `undefined` stops. `mask` is what `actionMask` returned. */
export type Player<Observation extends Space = Space> = (
  observation: PlainSampleOf<Observation>,
  at: { step: number; mask: unknown },
) => PlayedAction | undefined

export type EpisodeOptions = {
  /** An integer from 0 to 2^53 - 1. Default: 0. */
  seed?: number
  /**
   * The task, `{ split, index }`. Default: one of the training tasks, drawn by the seed. With `split` alone, the seed draws one
   * of that split.
   */
  task?: { split?: 'train' | 'eval'; index?: number }
  /** Index into `levels`. Default: drawn by the seed; with `task.split` 'eval' 0, as in the first episode of an evaluation. */
  level?: number
}

/** One episode. Numbers are those that the scenario returned; everything is plain data, which survives JSON. */
export type Trajectory<Observation extends Space = Space> = {
  seed: number
  task: Task
  /** Of a scenario with levels. */
  level?: number
  /** Of each state, the last one included: one more than actions. */
  observations: PlainSampleOf<Observation>[]
  /** What `actionMask` returned for each state from which the episode went on; empty without one. */
  masks: unknown[]
  /** In the form that `step` received. */
  actions: unknown[]
  rewards: number[]
  /** Both false where the actions ran out first. */
  terminated: boolean
  truncated: boolean
  /** The sum of the rewards. */
  return: number
  /** Empty until the episode has ended. */
  metrics: Record<string, number>
}

/** One after the other: `Math.random` and `Date` belong to the episode that is played. */
let earlier: Promise<unknown> = Promise.resolve()

/**
 * Plays one episode with the engine that training uses, in this process instead of the sandbox: seeding, the time limit, the
 * checks of everything that the scenario returns, and `Math.random` and `Date` are the same. `actions` are a list, a function
 * that chooses, or `'oracle'` for the scenario's own player. Actions that are left when the episode ends are not played.
 *
 * Throws what the scenario throws, and an error with the engine's code and hint for what it returns wrongly.
 */
export function playEpisode<Observation extends Space, Action extends ActionSpace, State>(
  scenario: ScenarioDefinition<Observation, Action, State>,
  actions: readonly PlayedAction[] | Player<Observation> | 'oracle',
  options: EpisodeOptions = {},
): Promise<Trajectory<Observation>> {
  const played = earlier.then(() => play(scenario as AnyDefinition, actions as AnyActions, options))
  earlier = played.catch(() => {})
  return played as Promise<Trajectory<Observation>>
}

type AnyDefinition = ScenarioDefinition<Space, ActionSpace, unknown>
type AnyActions = readonly PlayedAction[] | Player | 'oracle'

async function play(scenario: AnyDefinition, actions: AnyActions, options: EpisodeOptions): Promise<Trajectory> {
  const { seed = 0, task = {}, level } = options
  const description = reportingFaults(undefined, () => describeScenario(scenario))
  checkTask(task, description)
  checkLevel(level, description)
  const watched = new WatchedScenario(scenario, task.index, level)
  const buffers = allocateBuffers(1, description.sizes)
  // A group of one plays one episode and begins no other.
  const plan = { split: task.split ?? 'train', groupSize: 1, episodes: 1 } as const
  const engine = createEngine(watched.definition, description, { environments: 1, seed, plan }, buffers)
  const run = (begin: () => Progress) => settled(engine, watched, begin)
  const chooser = new ActionChooser(actions, scenario, description, buffers)

  await run(() => engine.reset())
  const rewards: number[] = []
  const played: unknown[] = []
  const ended = () => (buffers.flags[0] & (TERMINATED | TRUNCATED)) !== 0
  while (!ended()) {
    const chosen =
      actions === 'oracle'
        ? await run(() => engine.oracle()).then(() => true)
        : chooser.choose(played.length, watched.observation, watched.mask)
    if (!chosen) break
    played.push(plain(chooser.read()))
    await run(() => engine.step())
    rewards.push(watched.reward)
  }
  const names = ended() ? engine.metricNames() : []
  return {
    seed,
    task: watched.task,
    ...(description.levels === undefined ? {} : { level: watched.level }),
    observations: watched.observations,
    masks: watched.masks,
    actions: played,
    rewards,
    terminated: (buffers.flags[0] & TERMINATED) !== 0,
    truncated: (buffers.flags[0] & TRUNCATED) !== 0,
    return: rewards.reduce((sum, reward) => sum + reward, 0),
    metrics: Object.fromEntries(names.map((name, column) => [name, buffers.metrics[column]])),
  }
}

function checkTask({ split = 'train', index }: { split?: unknown; index?: unknown }, { tasks }: ScenarioDescription) {
  if (split !== 'train' && split !== 'eval') {
    throw new TypeError(`playEpisode: task.split is ${JSON.stringify(split)}, not 'train' or 'eval'`)
  }
  if (index === undefined) return
  const most = (tasks[split] || (split === 'eval' ? tasks.train : 0) || 1) - 1
  if (!Number.isInteger(index) || (index as number) < 0 || (index as number) > most) {
    throw new RangeError(`playEpisode: task.index is ${index}; the scenario's ${split} tasks are 0 to ${most}`)
  }
}

function checkLevel(level: unknown, { levels = [] }: ScenarioDescription): void {
  if (level === undefined || (Number.isInteger(level) && (level as number) >= 0 && (level as number) < levels.length))
    return
  const known =
    levels.length === 0 ? 'the scenario has no levels' : `the scenario's levels are 0 to ${levels.length - 1}`
  throw new RangeError(`playEpisode: level is ${level}; ${known}`)
}

/** Runs an operation of the engine with the episode's globals, and lets promises of the scenario settle. */
async function settled(engine: Engine, watched: WatchedScenario, begin: () => Progress): Promise<void> {
  const run = (operation: () => Progress) =>
    reportingFaults(watched, () => withEpisodeGlobals(engine, () => operation()))
  let progress = run(begin)
  while (progress === PENDING) {
    // As in the sandbox, what has not settled once all microtasks have run never will.
    await withEpisodeGlobals(engine, () => new Promise<void>((resolve) => setTimeout(() => resolve())))
    progress = run(() => engine.settle())
  }
}

/** Of every JavaScript host; an author's folder has the types of none. */
declare const setTimeout: (callback: () => void) => unknown

/** Writes the actions of a test into the engine's row, checked, and reads them in the form that `step` receives. */
class ActionChooser {
  readonly #actions: AnyActions
  readonly #description: ScenarioDescription
  readonly #buffers: EnvironmentBuffers
  readonly read: () => unknown

  constructor(
    actions: AnyActions,
    scenario: AnyDefinition,
    description: ScenarioDescription,
    buffers: EnvironmentBuffers,
  ) {
    if (actions === 'oracle' && scenario.oracle === undefined) {
      throw new TypeError("playEpisode: the scenario has no oracle; give a list of actions in place of 'oracle'")
    }
    if (actions !== 'oracle' && typeof actions !== 'function' && !Array.isArray(actions)) {
      throw new TypeError("playEpisode: actions must be a list, a function that chooses, or 'oracle'")
    }
    this.#actions = actions
    this.#description = description
    this.#buffers = buffers
    const decode = actionDecoder(description.action)
    this.read = () => decode(buffers.actions, 0)
  }

  /** False where no action is left. */
  choose(step: number, observation: never, mask: unknown): boolean {
    const actions = this.#actions
    const given =
      typeof actions === 'function' ? actions(observation, { step, mask }) : (actions as PlayedAction[])[step]
    if (given === undefined) return false
    const { action, sizes } = this.#description
    const { actions: row, masks } = this.#buffers
    const write = actionWriter(action, `action ${step}`)
    try {
      write(actionWithoutNames(given, action, observation), row, 0, sizes.mask === 0 ? null : masks, 0)
    } catch (thrown) {
      if (Problem.is(thrown)) throw new TypeError(`playEpisode: ${thrown.message}`)
      throw thrown
    }
    return true
  }
}

/** A scenario whose callbacks are the author's, and which keeps what they were given and returned. */
class WatchedScenario {
  readonly definition: AnyDefinition
  readonly observations: never[] = []
  readonly masks: unknown[] = []
  observation = undefined as never
  mask: unknown
  reward = 0
  task: Task = { split: 'train', index: 0 }
  level = 0
  /** What the author's code threw last: the error itself has the author's stack. */
  thrown: unknown

  constructor(scenario: AnyDefinition, index: number | undefined, chosenLevel: number | undefined) {
    let own: EpisodeContext | undefined
    const contextOf = ({ rng, task, level }: EpisodeContext): EpisodeContext => {
      own ??= { rng, task: index === undefined ? task : { split: task.split, index }, level: chosenLevel ?? level }
      return own
    }
    const oracleContext = ({ rng }: EpisodeContext): EpisodeContext => ({ rng, task: this.task, level: this.level })
    const guarded = <Given extends unknown[], Result>(callback: (...given: Given) => Result) => {
      return (...given: Given): Result => {
        try {
          return callback(...given)
        } catch (error) {
          this.thrown = error
          throw error
        }
      }
    }
    const definition: AnyDefinition = Object.create(scenario)
    definition.reset = guarded((context) => {
      const given = contextOf(context)
      this.task = { split: given.task.split, index: given.task.index }
      this.level = given.level
      return scenario.reset(given)
    })
    definition.step = guarded((state, action, context) => {
      const result = scenario.step(state, action, contextOf(context))
      return isPromise(result) ? result.then((value) => this.#noteReward(value)) : this.#noteReward(result)
    })
    definition.observe = guarded((state) => {
      const sample = scenario.observe(state)
      this.observation = plain(sample) as never
      this.observations.push(this.observation)
      return sample
    })
    const { actionMask, metrics, oracle } = scenario
    if (actionMask !== undefined) {
      definition.actionMask = guarded((state) => {
        const mask = actionMask.call(scenario, state)
        this.mask = plain(mask)
        this.masks.push(this.mask)
        return mask
      })
    }
    if (metrics !== undefined) definition.metrics = guarded((state) => metrics.call(scenario, state))
    if (oracle !== undefined) {
      definition.oracle = guarded((state, context) => oracle.call(scenario, state, oracleContext(context)))
    }
    this.definition = definition
  }

  #noteReward(result: StepResult): StepResult {
    this.reward = result?.reward
    return result
  }
}

function isPromise(value: unknown): value is PromiseLike<StepResult> {
  return typeof (value as PromiseLike<unknown> | null)?.then === 'function'
}

/** The author's own error where the scenario threw one; else what the engine found, as an error. */
function reportingFaults<Result>(watched: WatchedScenario | undefined, operation: () => Result): Result {
  try {
    return operation()
  } catch (thrown) {
    if (!EngineFault.is(thrown)) throw thrown
    const { code, message, hint, phase, step, detail } = thrown
    if (code === 'scenario_threw' && watched?.thrown !== undefined) throw watched.thrown
    const place = phase === 'define' ? '' : ` (${phase}, step ${step})`
    const error = new Error(`${code}: ${message}${place}.${hint === '' ? '' : ` ${hint}`}`)
    // The author's, where a promise was rejected.
    if (detail !== '') error.stack = detail
    throw error
  }
}

/** A copy as plain data: typed arrays become arrays, and a later change of the author's leaves it alone. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array)
  if (Array.isArray(value)) return value.map(plain)
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, plain(entry)]))
}
