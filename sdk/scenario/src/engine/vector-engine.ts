import { type ActionDecoder, actionDecoder } from './action-codec.ts'
import { EnvironmentRows, EpisodeSlot, noteOnBoard, TakenTasks } from './environment.ts'
import {
  BOARD_CLOCK,
  BOARD_PHASE,
  type EngineOptions,
  type EnvironmentBuffers,
  HOLD,
  IDLE,
  MAX_METRICS,
  PHASE_IDLE,
  PHASE_RENDER,
  PHASE_RESET,
  PHASE_STEP,
  phases,
  TERMINATED,
  TRUNCATED,
} from './environment-buffers.ts'
import {
  assertHost,
  describeThrown,
  EngineFault,
  HostMistake,
  Problem,
  refuseEarlyEnd,
  refusePending,
  refuseReward,
  refuseState,
  refuseStepResult,
  refuseTerminated,
  refuseTruncated,
  type UnknownStepResult,
} from './faults.ts'

import { append, fround, isInteger, lengthOfTypedArray } from './primordials.ts'
import type { RandomStream } from './random-stream.ts'
import { definitionFault, readCallbacks, type ScenarioCallbacks, type ScenarioDescription } from './read-definition.ts'
import { encodeScene } from './scene-encoder.ts'
import { type Script, ScriptedPlayer } from './scripted-player.ts'
import { isThenable, Settlement } from './settlement.ts'

/** What the host does next: nothing, or drain the microtasks and call `settle`. */
export const DONE = 0
export const PENDING = 1
export type Progress = typeof DONE | typeof PENDING

/** 2^53 - 1: every seed is one exact number. */
const MAX_SEED = 9007199254740991

/** Virtual time at an episode's reset: 2025-01-01T00:00:00Z. Each step adds a second. */
export const VIRTUAL_EPOCH_MS = 1_735_689_600_000
const VIRTUAL_STEP_MS = 1000

/**
 * N environments stepped as one. Every operation returns DONE, or PENDING if an author's callback returned a promise; the
 * host then leaves the isolate, which drains the microtasks, and calls `settle` until it returns DONE. Environments are
 * stepped strictly one after the other, even async ones, so that randomness, virtual time and faults belong to one
 * environment at a time. Throws an EngineFault for a fault of the scenario; the engine is unusable afterwards.
 */
export type Engine = {
  /** Starts episode `episode` (default 0) in every environment; in evaluation, the first one assigned to each. */
  reset(episode?: number): Progress
  /**
   * Applies `buffers.actions`, fills every other buffer, and starts the next episode where one ended. In evaluation and in
   * groups, where the number of episodes is limited, the last episode ends like any other; IDLE is set from the next step.
   */
  step(): Progress
  /** Continues after PENDING. A promise that is still pending can never settle: `scenario_timeout`. */
  settle(): Progress
  /**
   * Restores one environment (by its row) to a recorded state: resets it to `episode` and replays `actions`
   * ([steps, action]). Fills its rows. With `seed`, this and its later episodes are those of that seed: see `EpisodeSlot`.
   */
  restore(environment: number, episode: number, actions: Float32Array, seed?: number): Progress
  /**
   * Writes the oracle's action for the current state of every environment that is not idle into `buffers.actions`. For
   * scenarios that have an oracle. It draws from streams of its own: the episodes do not change.
   */
  oracle(): Progress
  /** The same of the scenario's rules, which see the observation and what is legal. */
  rules(): Progress
  /** Columns of `buffers.metrics`; empty before the first episode has ended. */
  metricNames(): string[]
  /** Texts of the first row's observations, as `TextWatch` encodes them; empty without `watchTexts`. */
  watchedTexts(): string
  /**
   * The first row's latest observation as JSON, in the form that `observe` returned it; of an episode that has ended, and after
   * which none began, its last. Empty without `watchObservations`.
   */
  observationJson(): string
  /**
   * What the first row's state looks like, as JSON: now, or at the end of the episode that ended last, which is kept with
   * `watchScenes` only. Empty where the scenario has no `render`, or no such state. Throws an EngineFault.
   */
  scene(final: boolean): string
  /** What `Math.random` returns to the running code. */
  currentRandom(): number
  /** What `Date.now` returns to the running code, in milliseconds. */
  currentTime(): number
}

/**
 * Creates the engine of a scenario whose `description` came from `describeScenario`. The callbacks are read from
 * `definition` again; spaces, limits and sizes are those of `description`.
 */
export function createEngine(
  definition: unknown,
  description: ScenarioDescription,
  options: EngineOptions,
  buffers: EnvironmentBuffers,
): Engine {
  const { environments, seed, plan, firstEnvironment = 0 } = options
  assertHost(isInteger(environments) && environments > 0, 'environments must be a positive integer')
  assertHost(isInteger(seed) && seed >= 0 && seed <= MAX_SEED, 'a seed is an integer from 0 to 2^53 - 1')
  assertHost(plan.split === 'train' || firstEnvironment === 0, 'an evaluation is played by one engine')
  const groupSize = plan.split === 'train' ? (plan.groupSize ?? 1) : 1
  assertHost(isInteger(groupSize) && groupSize > 0, 'a group has one environment at least')
  assertBuffers(buffers, environments, description)
  let callbacks: ScenarioCallbacks
  try {
    callbacks = readCallbacks(definition)
  } catch (thrown) {
    throw definitionFault(thrown)
  }
  assertHost((callbacks.actionMask !== null) === description.masked, 'the description is that of another scenario')
  return new VectorEngine(callbacks, description, options, buffers)
}

function assertBuffers(buffers: EnvironmentBuffers, environments: number, { sizes }: ScenarioDescription): void {
  const fits = (array: object, columns: number): void =>
    assertHost(lengthOfTypedArray(array) === environments * columns, 'a buffer does not fit the scenario')
  fits(buffers.actions, sizes.action)
  fits(buffers.observations, sizes.observation)
  fits(buffers.finalObservations, sizes.observation)
  fits(buffers.texts, sizes.text)
  fits(buffers.finalTexts, sizes.text)
  fits(buffers.rewards, 1)
  fits(buffers.flags, 1)
  fits(buffers.masks, sizes.mask)
  fits(buffers.episodeReturns, 1)
  fits(buffers.episodeLengths, 1)
  fits(buffers.episodeNumbers, 1)
  fits(buffers.metrics, MAX_METRICS)
}

const MODE_RESET = 0
const MODE_STEP = 1
const MODE_RESTORE = 2

/** See `Engine`. Makes every environment's calls, in order; `#unit` remembers where a promise interrupted them. */
class VectorEngine implements Engine {
  readonly #callbacks: ScenarioCallbacks
  readonly #description: ScenarioDescription
  readonly #options: EngineOptions
  readonly #buffers: EnvironmentBuffers
  readonly #board: Int32Array
  readonly #slots: EpisodeSlot[] = []
  readonly #decode: ActionDecoder
  readonly #rows: EnvironmentRows
  #current: EpisodeSlot
  /** The current operation: units `#unit` to `#end` are left. A unit is an environment, or a replayed step. */
  #mode = MODE_RESET
  #unit = 0
  #end = 0
  #replay: Float32Array
  /** The argument of `reset`. */
  #firstEpisode = 0
  /** The pending promise, if any, and whether it came from `step`. */
  #settlement: Settlement | null = null
  #awaitsStep = false
  #players: { oracle: ScriptedPlayer | null; rules: ScriptedPlayer | null } = { oracle: null, rules: null }
  /** In place of the environment's own, while a script runs. */
  #scriptRandom: RandomStream | null = null
  #started = false
  #dead = false
  #rendering = false
  /** The last state of the first row's latest episode, if scenes are watched. */
  #ended: unknown = undefined

  constructor(
    callbacks: ScenarioCallbacks,
    description: ScenarioDescription,
    options: EngineOptions,
    buffers: EnvironmentBuffers,
  ) {
    this.#callbacks = callbacks
    this.#description = description
    this.#options = options
    this.#buffers = buffers
    this.#board = buffers.board
    this.#replay = buffers.actions
    this.#decode = actionDecoder(description.action)
    this.#rows = new EnvironmentRows(callbacks, description, buffers, options)
    const first = options.firstEnvironment ?? 0
    const taken = TakenTasks.of(options.plan, description.tasks.eval)
    for (let i = 0; i < options.environments; i += 1) append(this.#slots, new EpisodeSlot(i, first + i, options, taken))
    this.#current = this.#slots[0]
  }

  reset(episode = 0): Progress {
    this.#assertReady()
    assertHost(isInteger(episode) && episode >= 0, 'an episode has a number from 0 on')
    assertHost(episode === 0 || this.#options.plan.split === 'train', 'an evaluation has a first episode')
    this.#started = true
    this.#firstEpisode = episode
    return this.#begin(MODE_RESET, this.#slots.length)
  }

  step(): Progress {
    this.#assertReady()
    assertHost(this.#started, 'step before reset')
    return this.#begin(MODE_STEP, this.#slots.length)
  }

  restore(environment: number, episode: number, actions: Float32Array, seed?: number): Progress {
    this.#assertReady()
    assertHost(isInteger(environment) && environment >= 0 && environment < this.#slots.length, 'no such environment')
    assertHost(isInteger(episode) && episode >= 0, 'an episode has a number from 0 on')
    const steps = lengthOfTypedArray(actions) / this.#description.sizes.action
    assertHost(isInteger(steps), 'restore: the last action is incomplete')
    this.#started = true
    this.#replay = actions
    if (seed !== undefined) this.#reseed(environment, seed)
    this.#current = this.#slots[environment]
    this.#current.episode = episode
    return this.#begin(MODE_RESTORE, 1 + steps)
  }

  #reseed(environment: number, seed: number): void {
    assertHost(isInteger(seed) && seed >= 0 && seed <= MAX_SEED, 'a seed is an integer from 0 to 2^53 - 1')
    const { number } = this.#slots[environment]
    this.#slots[environment] = new EpisodeSlot(environment, number, this.#options, null, seed)
    // They keep streams of the old one.
    this.#players = { oracle: null, rules: null }
  }

  readonly oracle = (): Progress => this.#script('oracle')
  readonly rules = (): Progress => this.#script('rules')

  #script(script: Script): Progress {
    this.#assertReady()
    assertHost(this.#started, 'a script before reset')
    assertHost(this.#callbacks[script] !== null, `the scenario has no ${script}`)
    this.#board[BOARD_CLOCK] += 1
    try {
      this.#players[script] ??= new ScriptedPlayer(script, this.#callbacks, this.#description, this.#buffers)
      for (let row = 0; row < this.#slots.length; row += 1) this.#playScript(this.#slots[row], this.#players[script])
      this.#board[BOARD_PHASE] = PHASE_IDLE
      return DONE
    } catch (thrown) {
      this.#dead = true
      throw faultOf(thrown, this.#board, this.#current)
    } finally {
      this.#scriptRandom = null
    }
  }

  #playScript(slot: EpisodeSlot, player: ScriptedPlayer): void {
    const streams = player.begin(slot)
    if (slot.idle) return
    this.#current = slot
    this.#scriptRandom = streams.mathRandom
    noteOnBoard(this.#board, player.phase, slot)
    player.play(slot, streams)
  }

  settle(): Progress {
    assertHost(!this.#dead && this.#settlement !== null, 'nothing to settle')
    return this.#run()
  }

  metricNames(): string[] {
    return this.#rows.metricNames()
  }

  watchedTexts(): string {
    return this.#rows.watchedTexts()
  }

  observationJson(): string {
    return this.#rows.observationJson()
  }

  scene(final: boolean): string {
    this.#assertReady()
    const slot = this.#slots[0]
    const state = final ? this.#ended : slot.state
    if (this.#callbacks.render === null || state === undefined) return ''
    this.#current = slot
    noteOnBoard(this.#board, PHASE_RENDER, slot)
    this.#rendering = true
    try {
      return encodeScene(this.#callbacks.render(state))
    } catch (thrown) {
      this.#dead = true
      throw faultOf(thrown, this.#board, slot)
    } finally {
      this.#rendering = false
      this.#board[BOARD_PHASE] = PHASE_IDLE
    }
  }

  currentRandom(): number {
    // A picture draws from no stream: an episode is the same whether it is looked at or not.
    if (this.#rendering) return 0.5
    return (this.#scriptRandom ?? this.#current.mathRandom).uniform()
  }

  currentTime(): number {
    return VIRTUAL_EPOCH_MS + VIRTUAL_STEP_MS * this.#current.step
  }

  #assertReady(): void {
    assertHost(!this.#dead, 'used after a fault')
    assertHost(this.#settlement === null, 'settle comes first')
  }

  #begin(mode: number, units: number): Progress {
    this.#mode = mode
    this.#unit = 0
    this.#end = units
    this.#board[BOARD_CLOCK] += 1
    return this.#run()
  }

  #run(): Progress {
    try {
      if (this.#settlement !== null) {
        if (this.#resume(this.#settlement) === PENDING) return PENDING
        this.#unit += 1
      }
      const progress = this.#mode === MODE_STEP ? this.#stepFrom(this.#unit) : this.#runUnits()
      if (progress === DONE) this.#board[BOARD_PHASE] = PHASE_IDLE
      return progress
    } catch (thrown) {
      this.#dead = true
      throw faultOf(thrown, this.#board, this.#current)
    }
  }

  /** Units of a reset are environments; those of a restore are the reset and then one per recorded action. */
  #runUnits(): Progress {
    for (; this.#unit < this.#end; this.#unit += 1) {
      const progress =
        this.#mode === MODE_RESET ? this.#resetUnit(this.#slots[this.#unit]) : this.#replayUnit(this.#unit)
      if (progress === PENDING) return PENDING
    }
    return DONE
  }

  #resetUnit(slot: EpisodeSlot): Progress {
    this.#buffers.rewards[slot.row] = 0
    this.#buffers.flags[slot.row] = 0
    return this.#beginEpisode(slot, this.#options.plan.split === 'eval' ? slot.number : this.#firstEpisode)
  }

  #replayUnit(unit: number): Progress {
    this.#board[BOARD_CLOCK] += 1
    const slot = this.#current
    if (unit > 0) return this.#playAction(slot, this.#replay, (unit - 1) * this.#description.sizes.action)
    this.#buffers.flags[slot.row] = 0
    return this.#startEpisode(slot, slot.episode)
  }

  /** Continues with the environment that was waiting. */
  #resume(settlement: Settlement): Progress {
    if (settlement.pending) refusePending(this.#awaitsStep ? 'step' : 'reset')
    this.#settlement = null
    const value = settlement.take()
    if (this.#awaitsStep) return this.#afterStep(this.#current, value)
    return this.#afterReset(this.#current, value)
  }

  #wait(promise: object, step: boolean): Progress {
    this.#awaitsStep = step
    this.#settlement = new Settlement(promise)
    return PENDING
  }

  /** Begins the next episode of the plan, or makes the environment idle if there is none left for it. */
  #beginEpisode(slot: EpisodeSlot, episode: number): Progress {
    const { plan } = this.#options
    if (plan.split === 'eval' && episode >= plan.episodes) return this.#retire(slot)
    return this.#startEpisode(slot, episode)
  }

  #retire(slot: EpisodeSlot): Progress {
    slot.idle = true
    slot.state = undefined
    if (this.#mode === MODE_RESET) this.#buffers.flags[slot.row] = IDLE
    this.#rows.clear(slot.row)
    return DONE
  }

  #startEpisode(slot: EpisodeSlot, episode: number): Progress {
    slot.idle = false
    slot.begin(episode, this.#options.plan, this.#description)
    this.#current = slot
    noteOnBoard(this.#board, PHASE_RESET, slot)
    const state = this.#callbacks.reset(slot.context)
    return isThenable(state) ? this.#wait(state, false) : this.#afterReset(slot, state)
  }

  #afterReset(slot: EpisodeSlot, state: unknown): Progress {
    if (state === undefined) refuseState()
    slot.state = state
    this.#rows.observe(slot)
    return DONE
  }

  /** Steps the environments from row `first` on. */
  #stepFrom(first: number): Progress {
    const slots = this.#slots
    const { actions, flags, rewards } = this.#buffers
    const columns = this.#description.sizes.action
    for (let row = first; row < slots.length; row += 1) {
      const slot = slots[row]
      if (slot.idle) {
        flags[row] = IDLE
        rewards[row] = 0
      } else if (flags[row] === HOLD) {
        flags[row] = 0
        rewards[row] = 0
      } else if (this.#playAction(slot, actions, row * columns) === PENDING) {
        this.#unit = row
        return PENDING
      }
    }
    this.#unit = slots.length
    return DONE
  }

  #playAction(slot: EpisodeSlot, actions: Float32Array, offset: number): Progress {
    const action = this.#decode(actions, offset)
    slot.step += 1
    this.#current = slot
    noteOnBoard(this.#board, PHASE_STEP, slot)
    const result = this.#callbacks.step(slot.state, action, slot.context) as UnknownStepResult
    // Destructured right here, so that V8 need not allocate the result.
    if (typeof result !== 'object' || result === null) return refuseStepResult(result)
    const { reward, terminated, truncated } = result
    if (typeof reward !== 'number' || typeof terminated !== 'boolean' || truncated !== undefined) {
      return this.#afterOddStep(slot, result, reward, terminated, truncated)
    }
    return this.#account(slot, reward, terminated)
  }

  /** An unusual result: a promise or a mistake. */
  #afterOddStep(slot: EpisodeSlot, result: object, reward: unknown, terminated: unknown, truncated: unknown): Progress {
    if (reward === undefined && isThenable(result)) return this.#wait(result, true)
    if (truncated !== undefined) refuseTruncated(result)
    if (typeof reward !== 'number') return refuseReward(reward)
    if (typeof terminated !== 'boolean') return refuseTerminated(terminated)
    return this.#account(slot, reward, terminated)
  }

  #afterStep(slot: EpisodeSlot, result: unknown): Progress {
    if (typeof result !== 'object' || result === null) return refuseStepResult(result)
    const { reward, terminated, truncated } = result as UnknownStepResult
    return this.#afterOddStep(slot, result, reward, terminated, truncated)
  }

  #account(slot: EpisodeSlot, reward: number, terminated: boolean): Progress {
    const rounded = fround(reward)
    if (rounded - rounded !== 0) refuseReward(reward)
    const { rewards, flags } = this.#buffers
    const { row } = slot
    rewards[row] = reward
    slot.episodeReturn += reward
    if (terminated || slot.step >= this.#description.maxSteps) {
      flags[row] = terminated ? TERMINATED : TRUNCATED
      return this.#endEpisode(slot)
    }
    flags[row] = 0
    this.#rows.observe(slot)
    return DONE
  }

  #endEpisode(slot: EpisodeSlot): Progress {
    if (this.#mode === MODE_RESTORE) refuseEarlyEnd(slot.step, this.#end - 1)
    this.#rows.finishEpisode(slot)
    if (slot.row === 0 && this.#options.watchScenes === true) this.#ended = slot.state
    const { plan } = this.#options
    if (plan.split === 'train' && plan.groupSize !== undefined) return this.#retire(slot)
    return this.#beginEpisode(slot, slot.episode + slot.stride)
  }
}

/** The fault for what was thrown while `slot` was stepped, by the engine or by the author's code. */
function faultOf(thrown: unknown, board: Int32Array, slot: EpisodeSlot): unknown {
  if (HostMistake.is(thrown)) return thrown
  const phase = phases[board[BOARD_PHASE]]
  const place = { phase, environment: slot.number, step: slot.step, episode: slot.episode }
  if (Problem.is(thrown)) return new EngineFault(thrown.code, thrown.message, thrown.hint, place)
  const { message, stack } = describeThrown(thrown)
  return new EngineFault('scenario_threw', `${phase} threw: ${message}`, '', place, stack)
}
