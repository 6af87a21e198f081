import { strict as assert } from 'node:assert'
import { AgentGymError, type Scene } from '@agentgym/contract'
import { readAllTexts, readScene, readWatchedTexts, type WatchedTexts } from '@agentgym/playing'
import {
  actionLeaves,
  allocateBuffers,
  type EnvironmentBuffers,
  type EpisodePlan,
  IDLE,
  MAX_METRICS,
  PENDING,
  type Phase,
} from '@agentgym/scenario/engine'
import ivm from 'isolated-vm'
import { readPlace } from './board.ts'
import { FAULT, Guest, type LogOptions } from './guest.ts'
import { firstBadFlaggedRow, firstBadRow, firstIllegalMask, readDescription } from './guest-output.ts'
import type { GuestProfiler } from './guest-profiler.ts'
import { type JobLimits, withDefaults } from './limits.ts'
import { formatMs, scenarioError } from './scenario-failure.ts'
import type { ScenarioDescription, ScenarioIdentity, VectorEnvironment } from './vector-environment.ts'

export type SandboxLimits = Partial<JobLimits>

export type SandboxedEnvironmentOptions = {
  /** The scenario's bundle: a CommonJS script. */
  source: string
  identity: ScenarioIdentity
  /** The script of `harnessSource()`, made by the parent process. */
  harness: string
  environments: number
  /** An integer from 0 to 2^53 - 1. */
  seed: number
  plan: EpisodePlan
  /** Number of the first environment among all of the run. */
  firstEnvironment?: number
  limits?: SandboxLimits
  /** Memory for the board, if the watching thread allocated it (BOARD_LENGTH 32-bit integers). */
  board?: SharedArrayBuffer
  /** Receives the board before author's code runs: the watching thread needs it when this one hangs. */
  onBoard?: (board: Int32Array) => void
  /** Remembers the built-ins, for `alteredIntrinsics`. */
  recordIntrinsics?: boolean
  /** Lets V8's profilers measure it, for `profiler`. */
  profile?: boolean
  /** Keeps what the texts in the first row's observations say, for `watchedTexts`; `all`: of every row, for `allTexts`. */
  watchTexts?: boolean | 'all'
  /** Keeps the last state of the first row's episodes, for `scene('final')`. */
  watchScenes?: boolean
  /** Keeps the first row's observations as JSON, for `observationJson`. */
  watchObservations?: boolean
  /** What becomes of the scenario's logs; left out, they are not read. */
  logs?: LogOptions
}

export interface SandboxedEnvironment extends VectorEnvironment {
  /** First built-in that the scenario changed, such as `Array.prototype.map`; empty where none, or no record was kept. */
  alteredIntrinsics(): string
  /** What the texts of the first row's observations say, cut; with `watchTexts` only. */
  watchedTexts(): WatchedTexts
  /**
   * What the texts of every row's observations say, whole; with `watchTexts: 'all'` only. `final` are those of episodes that have ended
   * since the last call. Text of a stranger, as it is.
   */
  allTexts(): WatchedTexts[]
  /**
   * The first row's latest observation in the form that `observe` returned it; with `watchObservations` only. Of an episode that
   * has ended and after which none began, its last. JSON from a stranger.
   */
  observationJson(): string
  /** Begins anew with another seed and plan, as if it had been created with them; `reset` or `restore` comes next. */
  restart(options: { seed: number; plan: EpisodePlan }): void
  /**
   * What the scenario draws of the first row's state: now, or at the end of its latest episode (with `watchScenes` only).
   * Null where it draws nothing.
   */
  scene(which: 'now' | 'final'): Scene | null
  /** Hands what the scenario has logged since the last time to `logs.take`. */
  takeLogs(): void
  /** Writes the actions of the scenario's oracle for the current states into `buffers.actions`; where it has one. */
  oracle(): void
  /** The same of the scenario's rules. */
  rules(): void
  /** V8's profilers; with `profile` only. */
  profiler(): GuestProfiler
}

/** Rows of all environments of one worker, in bytes: more would not fit the process anyway. */
const MAX_BUFFER_BYTES = 2 ** 31

/**
 * Loads a scenario into an isolate of its own and steps `environments` copies of it. To be called in a worker thread of
 * a supervised job: a guest can hang or abort its process, and only the supervisor helps then.
 *
 * Throws an AgentGymError for every fault of the scenario, then and in every method; after one it is disposed of.
 */
export function createSandboxedEnvironment(options: SandboxedEnvironmentOptions): SandboxedEnvironment {
  const limits = withDefaults(options.limits)
  const guest = new Guest({ ...options, limits })
  try {
    const description = readDescription(options.identity, guest.read('description'))
    return new IsolatedEnvironment(guest, description, options, limits)
  } catch (error) {
    guest.dispose()
    throw error
  }
}

class IsolatedEnvironment implements SandboxedEnvironment {
  readonly environments: number
  readonly description: ScenarioDescription
  readonly buffers: EnvironmentBuffers
  readonly replays = true
  readonly #guest: Guest
  readonly #identity: ScenarioIdentity
  readonly #firstEnvironment: number
  readonly #limits: JobLimits
  readonly #watched: Pick<SandboxedEnvironmentOptions, 'watchTexts' | 'watchScenes' | 'watchObservations'>
  /** Choices of each categorical component, in the order of a mask row's columns. */
  readonly #maskCounts: number[]
  #metricNames: string[] = []
  #disposed = false
  /** Time spent in steps, and how many environments were stepped in it. */
  #stepMs = 0
  #stepped = 0

  constructor(guest: Guest, description: ScenarioDescription, options: SandboxedEnvironmentOptions, limits: JobLimits) {
    const { environments, firstEnvironment = 0 } = options
    this.environments = environments
    this.description = description
    this.#guest = guest
    this.#identity = options.identity
    this.#firstEnvironment = firstEnvironment
    this.#limits = limits
    this.#maskCounts = description.masked ? actionLeaves(description.action).flatMap(({ counts }) => counts) : []
    assertAffordable(options.identity, description, environments)
    this.buffers = { ...allocateBuffers(environments, description.sizes), board: guest.board }
    this.#watched = options
    this.restart(options)
  }

  restart({ seed, plan }: { seed: number; plan: EpisodePlan }): void {
    this.#assertUsable()
    const { watchTexts = false, watchScenes = false, watchObservations = false } = this.#watched
    const { split, taskOrder = 'drawn' } = plan
    this.#metricNames = []
    this.#guest.start({
      environments: this.environments,
      seed,
      split,
      episodes: plan.split === 'eval' ? plan.episodes : 0,
      taskOrder,
      apartFrom: plan.split === 'eval' ? (plan.apartFrom ?? null) : null,
      groupSize: plan.split === 'train' ? (plan.groupSize ?? 0) : 0,
      firstEnvironment: this.#firstEnvironment,
      watchTexts,
      watchScenes,
      watchObservations,
      buffers: this.buffers,
    })
  }

  reset(episode = 0): void {
    this.#run('reset', this.#limits.crossingMs, (timeoutMs) =>
      this.#guest.cross('reset', 'reset', [episode], timeoutMs),
    )
    this.#check(false)
  }

  step(): void {
    const spentMs = this.#run('step', this.#limits.crossingMs, (timeoutMs) =>
      this.#guest.cross('step', 'step', [], timeoutMs),
    )
    this.#check(true)
    this.#assertSpeed(spentMs)
  }

  restore(environment: number, episode: number, actions: Float32Array, seed?: number): void {
    assert(environment >= 0 && environment < this.environments, 'no such environment')
    const steps = actions.length / this.description.sizes.action
    // A replay is many steps in one crossing; each of them may take what the mean step may.
    const timeoutMs = this.#limits.crossingMs + steps * this.#limits.meanStepMs
    const copy = new ivm.ExternalCopy(actions).copyInto({ release: true })
    const parameters = [environment, episode, copy, ...(seed === undefined ? [] : [seed])]
    this.#run('reset', timeoutMs, (remainingMs) => this.#guest.cross('restore', 'reset', parameters, remainingMs))
    this.#check(false)
  }

  oracle(): void {
    this.#script('oracle')
  }

  rules(): void {
    this.#script('rules')
  }

  #script(script: 'oracle' | 'rules'): void {
    this.#run(script, this.#limits.crossingMs, (timeoutMs) => this.#guest.cross(script, script, [], timeoutMs))
    // What a realm's own engine wrote, which shares it with the author's code.
    const row = firstBadRow(this.buffers.actions, this.description.sizes.action)
    if (row >= 0) throw this.#fail('scenario_invalid', script, `an action of the ${script} is not finite`, row)
  }

  metricNames(): string[] {
    this.#assertUsable()
    if (this.#metricNames.length > 0) return this.#metricNames
    const names: unknown = JSON.parse(this.#guest.read('metricNames'))
    const valid = Array.isArray(names) && names.length <= MAX_METRICS && names.every((name) => typeof name === 'string')
    if (!valid) throw this.#fail('metrics_invalid', 'metrics', 'the names of the metrics could not be read')
    this.#metricNames = names
    return names
  }

  alteredIntrinsics(): string {
    this.#assertUsable()
    return this.#guest.read('alteredIntrinsics')
  }

  watchedTexts(): WatchedTexts {
    this.#assertUsable()
    return readWatchedTexts(this.#guest.read('watchedTexts'))
  }

  allTexts(): WatchedTexts[] {
    this.#assertUsable()
    return readAllTexts(this.#guest.read('watchedTexts'), this.environments)
  }

  observationJson(): string {
    this.#assertUsable()
    return this.#guest.read('observationJson')
  }

  scene(which: 'now' | 'final'): Scene | null {
    this.#assertUsable()
    if (this.description.renders !== true) return null
    const status = this.#guest.cross('scene', 'render', [which === 'final'])
    if (status === FAULT) throw this.#guest.failure()
    return readScene(this.#guest.read('sceneText'))
  }

  takeLogs(): void {
    this.#assertUsable()
    this.#guest.takeLogs()
  }

  profiler(): GuestProfiler {
    this.#assertUsable()
    return this.#guest.profiler()
  }

  dispose(): void {
    this.#disposed = true
    this.#guest.dispose()
  }

  /**
   * Crosses into the guest until the engine is done: an async scenario needs one more crossing for each promise, for
   * microtasks run between two. All of them together have `limitMs`. Returns the milliseconds spent.
   */
  #run(phase: Phase, limitMs: number, enter: (timeoutMs: number) => number): number {
    this.#assertUsable()
    const startedMs = performance.now()
    try {
      let status = enter(limitMs)
      while (status === PENDING) {
        const remainingMs = Math.ceil(limitMs - (performance.now() - startedMs))
        if (remainingMs <= 0) throw this.#timedOut(limitMs)
        status = this.#guest.cross('settle', phase, [], remainingMs)
      }
      if (status === FAULT) throw this.#guest.failure()
    } catch (error) {
      this.dispose()
      throw error
    }
    return performance.now() - startedMs
  }

  #assertUsable(): void {
    assert(!this.#disposed, 'the environment has been disposed of')
  }

  #timedOut(limitMs: number): AgentGymError {
    const place = readPlace(this.#guest.board)
    const what = `${place.phase} did not return within ${formatMs(limitMs)}`
    return scenarioError(this.#identity, { code: 'scenario_timeout', place, what, data: { limit_ms: limitMs } })
  }

  /** The engine has checked all this inside; but there it shares a realm with the author's code. */
  #check(stepped: boolean): void {
    const { observations, finalObservations, rewards, masks, flags } = this.buffers
    const width = this.description.sizes.observation
    const observation = 'an observation holds a number that is not finite'
    this.#refuse(firstBadRow(observations, width), 'observation_invalid', 'observe', observation)
    if (this.#maskCounts.length > 0) {
      const row = firstIllegalMask(masks, this.#maskCounts, flags, IDLE)
      this.#refuse(row, 'no_legal_action', 'actionMask', 'an action mask leaves no legal action')
    }
    if (!stepped) return
    this.#refuse(firstBadRow(rewards, 1), 'reward_not_finite', 'step', 'a reward is not finite')
    this.#refuse(firstBadFlaggedRow(finalObservations, width, flags), 'observation_invalid', 'observe', observation)
  }

  #refuse(
    row: number,
    code: 'observation_invalid' | 'no_legal_action' | 'reward_not_finite',
    phase: Phase,
    what: string,
  ) {
    if (row >= 0) throw this.#fail(code, phase, what, row)
  }

  #fail(code: AgentGymError['code'], phase: Phase, what: string, row?: number): AgentGymError {
    this.dispose()
    const error = scenarioError(this.#identity, { code, place: { phase }, what })
    if (row !== undefined) error.data.environment = this.#firstEnvironment + row
    return error
  }

  /** A scenario that always stays just below its timeout would hold its job for ever. */
  #assertSpeed(spentMs: number): void {
    this.#stepMs += spentMs
    this.#stepped += this.environments
    if (this.#stepMs < this.#limits.crossingMs || this.#stepMs < this.#stepped * this.#limits.meanStepMs) return
    const place = readPlace(this.#guest.board)
    this.dispose()
    const meanMs = this.#stepMs / this.#stepped
    const what = `step takes ${formatMs(Math.round(meanMs))} on average; it may take ${formatMs(this.#limits.meanStepMs)}`
    throw scenarioError(this.#identity, { code: 'scenario_timeout', place: { ...place, phase: 'step' }, what })
  }
}

function assertAffordable(identity: ScenarioIdentity, { sizes }: ScenarioDescription, environments: number): void {
  const bytes =
    environments * (8 * sizes.observation + 4 * sizes.action + sizes.mask + 4 * sizes.text + 8 * MAX_METRICS + 64)
  if (bytes <= MAX_BUFFER_BYTES) return
  const gigabytes = (bytes / 2 ** 30).toFixed(1)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `environments: ${environments} of ${identity.name}@${identity.version} need ${gigabytes} GiB for their observations.`,
    hint: 'Use fewer environments, or make the observation smaller.',
    data: { field: 'environments', scenario: identity.name, version: identity.version },
  })
}
