import { type ActionDecoder, actionDecoder } from './action-decoder.ts'
import { definitionFault } from './describe-scenario.ts'
import { describeThrown, describeValue } from './describe-value.ts'
import { assertHost, EngineFault, HostMistake, Problem } from './engine-fault.ts'
import {
  BOARD_CLOCK,
  BOARD_ENVIRONMENT,
  BOARD_EPISODE,
  BOARD_PHASE,
  BOARD_STEP,
  type EngineOptions,
  type EnvironmentBuffers,
  IDLE,
  MAX_METRICS,
  phases,
  TERMINATED,
  TRUNCATED,
} from './environment-buffers.ts'
import { EpisodeSlot } from './episode-slot.ts'
import { type MaskEncoder, maskEncoder } from './mask-encoder.ts'
import { MetricsTable } from './metrics-table.ts'
import { type ObservationEncoder, observationEncoder } from './observation-encoder.ts'
import { append, isInteger, lengthOfTypedArray, objectHasOwn } from './primordials.ts'
import { readCallbacks, type ScenarioCallbacks, type ScenarioDescription } from './read-definition.ts'
import { isThenable, Settlement } from './settlement.ts'

/** What the host does next: nothing, or let the microtasks drain and then call `settle`. */
export const DONE = 0
export const PENDING = 1
export type Progress = typeof DONE | typeof PENDING

/** Virtual time at an episode's reset: 2025-01-01T00:00:00Z. Each step adds a second. */
export const VIRTUAL_EPOCH_MS = 1_735_689_600_000
const VIRTUAL_STEP_MS = 1000

const PHASE_IDLE = 0
const PHASE_RESET = 3
const PHASE_STEP = 4
const PHASE_OBSERVE = 5
const PHASE_ACTION_MASK = 6
const PHASE_METRICS = 7

/**
 * N environments stepped as one. Every operation returns DONE, or PENDING where an author's callback returned a
 * promise; the host then leaves the isolate, which drains the microtasks, and calls `settle` until that returns DONE.
 * Environments are played strictly one after the other, also where they are async, so that randomness, virtual time and
 * blame are those of one environment at a time. Throws an EngineFault for a fault of the scenario; afterwards the engine
 * is unusable.
 */
export type Engine = {
  /** Starts every environment's first episode. */
  reset(): Progress
  /** Applies `buffers.actions`, fills every other buffer, starts the next episode where one ended. */
  step(): Progress
  /** Goes on after PENDING. A promise that is still open has nothing left to wait for: `scenario_timeout`. */
  settle(): Progress
  /**
   * Puts one environment (by its row) where a recorded run was: resets it to `episode` and replays `actions`
   * ([steps, action]). Fills its rows.
   */
  restore(environment: number, episode: number, actions: Float32Array): Progress
  /** Names of the columns of `buffers.metrics`; empty before the first episode ended. */
  metricNames(): string[]
  /** What `Math.random` gives to the code that runs now. */
  currentRandom(): number
  /** What `Date.now` gives to the code that runs now, in milliseconds. */
  currentTime(): number
}

const MODE_RESET = 0
const MODE_STEP = 1
const MODE_RESTORE = 2

/** What `step` returns, before anything about it is known. */
type UnknownStepResult = { reward?: unknown; terminated?: unknown; truncated?: unknown }

class VectorEngine implements Engine {
  readonly #callbacks: ScenarioCallbacks
  readonly #description: ScenarioDescription
  readonly #options: EngineOptions
  readonly #buffers: EnvironmentBuffers
  readonly #board: Int32Array
  readonly #slots: EpisodeSlot[] = []
  readonly #decode: ActionDecoder
  readonly #encode: ObservationEncoder
  readonly #encodeMask: MaskEncoder | null
  readonly #metrics = new MetricsTable()
  #current: EpisodeSlot
  /** The operation under way: units `#unit` to `#end` are still to do. A unit is an environment, or a replayed step. */
  #mode = MODE_RESET
  #unit = 0
  #end = 0
  #replay: Float32Array
  /** The promise that is waited for, if any, and whether it is that of a step. */
  #settlement: Settlement | null = null
  #awaitsStep = false
  #started = false
  #dead = false

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
    this.#encode = observationEncoder(description.observation)
    this.#encodeMask = description.masked ? maskEncoder(description.action) : null
    const first = options.firstEnvironment ?? 0
    for (let i = 0; i < options.environments; i += 1) append(this.#slots, new EpisodeSlot(i, first + i))
    this.#current = this.#slots[0]
  }

  reset(): Progress {
    this.#assertReady()
    this.#started = true
    return this.#begin(MODE_RESET, this.#slots.length)
  }

  step(): Progress {
    this.#assertReady()
    assertHost(this.#started, 'step before reset')
    return this.#begin(MODE_STEP, this.#slots.length)
  }

  restore(environment: number, episode: number, actions: Float32Array): Progress {
    this.#assertReady()
    assertHost(isInteger(environment) && environment >= 0 && environment < this.#slots.length, 'no such environment')
    assertHost(isInteger(episode) && episode >= 0, 'an episode has a number from 0 on')
    const steps = lengthOfTypedArray(actions) / this.#description.sizes.action
    assertHost(isInteger(steps), 'restore: the last action is incomplete')
    this.#started = true
    this.#replay = actions
    this.#current = this.#slots[environment]
    this.#current.episode = episode
    return this.#begin(MODE_RESTORE, 1 + steps)
  }

  settle(): Progress {
    assertHost(!this.#dead && this.#settlement !== null, 'nothing to settle')
    return this.#run()
  }

  metricNames(): string[] {
    return this.#metrics.names()
  }

  currentRandom(): number {
    return this.#current.mathRandom.uniform()
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
      for (; this.#unit < this.#end; this.#unit += 1) {
        const progress = this.#mode === MODE_STEP ? this.#play(this.#slots[this.#unit]) : this.#runUnit(this.#unit)
        if (progress === PENDING) return PENDING
      }
      this.#board[BOARD_PHASE] = PHASE_IDLE
      return DONE
    } catch (thrown) {
      this.#dead = true
      throw this.#faultOf(thrown)
    }
  }

  #runUnit(unit: number): Progress {
    if (this.#mode === MODE_RESET) {
      const slot = this.#slots[unit]
      this.#buffers.rewards[slot.row] = 0
      return this.#beginEpisode(slot, this.#options.plan.split === 'eval' ? slot.number : 0)
    }
    this.#board[BOARD_CLOCK] += 1
    const slot = this.#current
    if (unit === 0) return this.#startEpisode(slot, slot.episode)
    return this.#playAction(slot, this.#replay, (unit - 1) * this.#description.sizes.action)
  }

  /** Goes on with the environment that waited. */
  #resume(settlement: Settlement): Progress {
    if (settlement.pending) {
      throw new Problem(
        'scenario_timeout',
        `${this.#awaitsStep ? 'step' : 'reset'} returned a promise that never settles`,
        'A scenario has no timers and no I/O, so there is nothing to wait for: return the result itself.',
      )
    }
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

  #note(phase: number, slot: EpisodeSlot): void {
    const board = this.#board
    board[BOARD_ENVIRONMENT] = slot.number
    board[BOARD_STEP] = slot.step
    board[BOARD_EPISODE] = slot.episode
    board[BOARD_PHASE] = phase
  }

  /** Begins an episode of the plan, or retires the environment where the plan has none left for it. */
  #beginEpisode(slot: EpisodeSlot, episode: number): Progress {
    const { plan } = this.#options
    if (plan.split === 'eval' && episode >= plan.episodes) {
      this.#retire(slot)
      return DONE
    }
    return this.#startEpisode(slot, episode)
  }

  #startEpisode(slot: EpisodeSlot, episode: number): Progress {
    if (this.#mode !== MODE_STEP) this.#buffers.flags[slot.row] = 0
    slot.idle = false
    slot.begin(episode, this.#options, this.#description.tasks)
    this.#current = slot
    this.#note(PHASE_RESET, slot)
    const state = this.#callbacks.reset(slot.context)
    return isThenable(state) ? this.#wait(state, false) : this.#afterReset(slot, state)
  }

  #afterReset(slot: EpisodeSlot, state: unknown): Progress {
    if (state === undefined) {
      throw new Problem('scenario_invalid', 'reset returned undefined', 'Return the initial state of the episode.')
    }
    slot.state = state
    this.#observe(slot, this.#buffers.observations)
    this.#writeMask(slot)
    return DONE
  }

  /** Rows of an idle environment mean nothing, but a sampler that reads them all must not stumble. */
  #retire(slot: EpisodeSlot): void {
    const { observation, mask } = this.#description.sizes
    const { observations, masks, flags } = this.#buffers
    if (this.#mode === MODE_RESET) flags[slot.row] = IDLE
    slot.idle = true
    slot.state = undefined
    for (let i = 0; i < observation; i += 1) observations[slot.row * observation + i] = 0
    for (let i = 0; i < mask; i += 1) masks[slot.row * mask + i] = 1
  }

  #play(slot: EpisodeSlot): Progress {
    if (slot.idle) {
      this.#buffers.flags[slot.row] = IDLE
      this.#buffers.rewards[slot.row] = 0
      return DONE
    }
    return this.#playAction(slot, this.#buffers.actions, slot.row * this.#description.sizes.action)
  }

  #playAction(slot: EpisodeSlot, actions: Float32Array, offset: number): Progress {
    const action = this.#decode(actions, offset)
    slot.step += 1
    this.#current = slot
    this.#note(PHASE_STEP, slot)
    const result = this.#callbacks.step(slot.state, action, slot.context)
    // A result without a reward may be a promise; one with a reward costs no look at `then`.
    return this.#afterStep(slot, result, true)
  }

  #afterStep(slot: EpisodeSlot, result: unknown, mayBePromise = false): Progress {
    if (typeof result !== 'object' || result === null) refuseStepResult(`step returned ${describeValue(result)}`)
    const reward = (result as UnknownStepResult).reward
    if (reward === undefined && mayBePromise && isThenable(result)) return this.#wait(result, true)
    if (typeof reward !== 'number') refuseReward(reward)
    const { rewards, flags } = this.#buffers
    const { row } = slot
    rewards[row] = reward
    // Infinite where the double is too large for float32.
    const rounded = rewards[row]
    if (rounded - rounded !== 0) refuseReward(reward)
    const terminated = (result as UnknownStepResult).terminated
    if (terminated !== true && terminated !== false) refuseTerminated(terminated)
    if ((result as UnknownStepResult).truncated !== undefined) refuseTruncated(result)
    slot.episodeReturn += reward
    if (terminated) {
      flags[row] = TERMINATED
      return this.#endEpisode(slot)
    }
    if (slot.step >= this.#description.maxSteps) {
      flags[row] = TRUNCATED
      return this.#endEpisode(slot)
    }
    flags[row] = 0
    this.#observe(slot, this.#buffers.observations)
    this.#writeMask(slot)
    return DONE
  }

  #endEpisode(slot: EpisodeSlot): Progress {
    if (this.#mode === MODE_RESTORE) {
      throw new Problem(
        'scenario_nondeterministic',
        `a recorded episode ended early: at step ${slot.step} of ${this.#end - 1} that were played before`,
        'Keep everything that changes in the state that reset returns, and draw randomness from rng.',
      )
    }
    const buffers = this.#buffers
    const { row } = slot
    this.#observe(slot, buffers.finalObservations)
    buffers.episodeReturns[row] = slot.episodeReturn
    buffers.episodeLengths[row] = slot.step
    buffers.episodeNumbers[row] = slot.episode
    if (this.#callbacks.metrics !== null) {
      this.#board[BOARD_PHASE] = PHASE_METRICS
      this.#metrics.write(this.#callbacks.metrics(slot.state), buffers.metrics, row * MAX_METRICS)
    }
    const stride = this.#options.plan.split === 'eval' ? this.#slots.length : 1
    return this.#beginEpisode(slot, slot.episode + stride)
  }

  #observe(slot: EpisodeSlot, rows: Float32Array): void {
    this.#board[BOARD_PHASE] = PHASE_OBSERVE
    this.#encode(this.#callbacks.observe(slot.state), rows, slot.row * this.#description.sizes.observation)
  }

  #writeMask(slot: EpisodeSlot): void {
    if (this.#encodeMask === null || this.#callbacks.actionMask === null) return
    this.#board[BOARD_PHASE] = PHASE_ACTION_MASK
    this.#encodeMask(
      this.#callbacks.actionMask(slot.state),
      this.#buffers.masks,
      slot.row * this.#description.sizes.mask,
    )
  }

  /** What the host is to see for something thrown while an operation ran: by the engine, or else by the author. */
  #faultOf(thrown: unknown): unknown {
    if (EngineFault.is(thrown) || HostMistake.is(thrown)) return thrown
    const phase = phases[this.#board[BOARD_PHASE]]
    const { number, step, episode } = this.#current
    const place = { phase, environment: number, step, episode }
    if (Problem.is(thrown)) return new EngineFault(thrown.code, thrown.message, thrown.hint, place)
    const { message, stack } = describeThrown(thrown)
    return new EngineFault('scenario_threw', `${phase} threw: ${message}`, '', place, stack)
  }
}

function refuseStepResult(what: string): never {
  throw new Problem('scenario_invalid', what, 'Return { reward: number, terminated: boolean }.')
}

function refuseReward(reward: unknown): never {
  const tooLarge = typeof reward === 'number' && reward - reward === 0
  throw new Problem(
    'reward_not_finite',
    `step returned the reward ${describeValue(reward)}${tooLarge ? ', which is infinite in float32' : ''}`,
    'A reward must be a finite number; a failed scorer must throw, not invent one.',
  )
}

function refuseTerminated(terminated: unknown): never {
  refuseStepResult(`step returned terminated: ${describeValue(terminated)}, not a boolean`)
}

/** Gymnasium's environments say when they are truncated; here that would be lost without a word. */
function refuseTruncated(result: object): void {
  if (objectHasOwn(result, 'truncated')) {
    throw new Problem(
      'scenario_invalid',
      'step returned truncated',
      'The engine owns the time limit: set maxSteps instead.',
    )
  }
}

function assertBuffers(buffers: EnvironmentBuffers, environments: number, { sizes }: ScenarioDescription): void {
  const fits = (array: object, columns: number): void =>
    assertHost(lengthOfTypedArray(array) === environments * columns, 'a buffer does not fit the scenario')
  fits(buffers.actions, sizes.action)
  fits(buffers.observations, sizes.observation)
  fits(buffers.finalObservations, sizes.observation)
  fits(buffers.rewards, 1)
  fits(buffers.flags, 1)
  fits(buffers.masks, sizes.mask)
  fits(buffers.episodeReturns, 1)
  fits(buffers.episodeLengths, 1)
  fits(buffers.episodeNumbers, 1)
  fits(buffers.metrics, MAX_METRICS)
}

/**
 * Makes the engine of a scenario whose `description` came from `describeScenario`. The callbacks are read once more
 * from `definition`; the spaces, limits and sizes are those of `description`.
 */
export function createEngine(
  definition: unknown,
  description: ScenarioDescription,
  options: EngineOptions,
  buffers: EnvironmentBuffers,
): Engine {
  const { environments, seed, plan, firstEnvironment = 0 } = options
  assertHost(isInteger(environments) && environments > 0, 'environments must be a positive integer')
  assertHost(isInteger(seed) && seed >= 0 && seed <= 0xffffffff, 'a seed is an unsigned 32-bit integer')
  assertHost(plan.split === 'train' || firstEnvironment === 0, 'an evaluation is played by one engine')
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
