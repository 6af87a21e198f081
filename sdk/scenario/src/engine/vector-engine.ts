import { type ActionDecoder, actionDecoder } from './action-decoder.ts'
import { faultOf, noteOnBoard, PHASE_IDLE, PHASE_RESET, PHASE_STEP } from './board.ts'
import { DONE, type Engine, PENDING, type Progress, VIRTUAL_EPOCH_MS, VIRTUAL_STEP_MS } from './engine.ts'
import { assertHost } from './engine-fault.ts'
import {
  BOARD_CLOCK,
  BOARD_PHASE,
  type EngineOptions,
  type EnvironmentBuffers,
  IDLE,
  TERMINATED,
  TRUNCATED,
} from './environment-buffers.ts'
import { EnvironmentRows } from './environment-rows.ts'
import { EpisodeSlot } from './episode-slot.ts'
import { append, fround, isInteger, lengthOfTypedArray } from './primordials.ts'
import type { ScenarioCallbacks, ScenarioDescription } from './read-definition.ts'
import {
  refuseEarlyEnd,
  refusePending,
  refuseReward,
  refuseState,
  refuseStepResult,
  refuseTerminated,
  refuseTruncated,
  type UnknownStepResult,
} from './refusals.ts'
import { isThenable, Settlement } from './settlement.ts'

const MODE_RESET = 0
const MODE_STEP = 1
const MODE_RESTORE = 2

/** See `Engine`. One object makes every environment's calls, in order; `#unit` remembers where a promise interrupted it. */
export class VectorEngine implements Engine {
  readonly #callbacks: ScenarioCallbacks
  readonly #description: ScenarioDescription
  readonly #options: EngineOptions
  readonly #buffers: EnvironmentBuffers
  readonly #board: Int32Array
  readonly #slots: EpisodeSlot[] = []
  readonly #decode: ActionDecoder
  readonly #rows: EnvironmentRows
  #current: EpisodeSlot
  /** The operation under way: units `#unit` to `#end` are still to do. A unit is an environment, or a replayed step. */
  #mode = MODE_RESET
  #unit = 0
  #end = 0
  #replay: Float32Array
  /** What `reset` asked for. */
  #firstEpisode = 0
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
    this.#rows = new EnvironmentRows(callbacks, description, buffers, options.watchTexts === true)
    const first = options.firstEnvironment ?? 0
    for (let i = 0; i < options.environments; i += 1) append(this.#slots, new EpisodeSlot(i, first + i, options))
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
    return this.#rows.metricNames()
  }

  watchedTexts(): string {
    return this.#rows.watchedTexts()
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
      const progress = this.#mode === MODE_STEP ? this.#stepFrom(this.#unit) : this.#runUnits()
      if (progress === DONE) this.#board[BOARD_PHASE] = PHASE_IDLE
      return progress
    } catch (thrown) {
      this.#dead = true
      throw faultOf(thrown, this.#board, this.#current)
    }
  }

  /** Units of a reset are environments; those of a restore are the reset and then one a recorded action. */
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

  /** Goes on with the environment that waited. */
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

  /** Begins an episode of the plan, or retires the environment where the plan has none left for it. */
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
    slot.begin(episode, this.#options.plan, this.#description.tasks)
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
    // The result is taken apart where it was made: then it need not be allocated at all.
    if (typeof result !== 'object' || result === null) return refuseStepResult(result)
    const { reward, terminated, truncated } = result
    if (typeof reward !== 'number' || typeof terminated !== 'boolean' || truncated !== undefined) {
      return this.#afterOddStep(slot, result, reward, terminated, truncated)
    }
    return this.#account(slot, reward, terminated)
  }

  /** A result out of the ordinary: a promise, or a mistake. */
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
    const { plan } = this.#options
    if (plan.split === 'train' && plan.groupSize !== undefined) return this.#retire(slot)
    const stride = plan.split === 'eval' ? this.#slots.length : 1
    return this.#beginEpisode(slot, slot.episode + stride)
  }
}
