import type { ScenarioLogs } from '@agentgym/contract'
import { BOARD_LENGTH, type Phase, phases } from '@agentgym/scenario/engine'
import type { Harness, StartOptions } from '@agentgym/scenario/harness'
import ivm from 'isolated-vm'
import { BOARD_CROSSING, BOARD_CROSSINGS, readPlace } from './board.ts'
import { readLogs } from './guest-output.ts'
import { GuestProfiler } from './guest-profiler.ts'
import type { JobLimits } from './limits.ts'
import { explainCrossing, explainFault, explainSyntax } from './scenario-failure.ts'
import { BUNDLE_NAME } from './source-place.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

/** What a crossing returns beside the engine's DONE and PENDING. */
export const FAULT = 2

export type GuestOptions = {
  /** The scenario's bundle: a CommonJS script. */
  source: string
  identity: ScenarioIdentity
  /** The script of `harnessSource()`. */
  harness: string
  limits: JobLimits
  /** Memory for the board, BOARD_LENGTH 32-bit integers; made anew where it is left out. */
  board?: SharedArrayBuffer
  /** Called before any author's code runs, with the board that shows where the guest is. */
  onBoard?: (board: Int32Array) => void
  /** Keeps a record of the built-ins, for `alteredIntrinsics`. */
  recordIntrinsics?: boolean
  /** Lets `profiler` measure it. */
  profile?: boolean
  logs?: LogOptions
}

/** Left out, what a guest logs is never read. */
export type LogOptions = {
  /** Keeps texts; else calls are only counted. */
  keep: boolean
  /** Called by `takeLogs`, and before a fault is thrown, if anything was logged. */
  take(logs: ScenarioLogs): void
}

type Call = keyof Harness
type GuestFunction = ivm.Reference<(...parameters: CrossingArgument[]) => unknown>
type CrossingArgument = number | boolean | ivm.Copy<unknown> | ivm.Dereference<unknown>

const functionNames: Call[] = [
  'load',
  'description',
  'start',
  'reset',
  'step',
  'settle',
  'oracle',
  'rules',
  'restore',
  'metricNames',
  'watchedTexts',
  'observationJson',
  'scene',
  'sceneText',
  'logs',
  'fault',
  'alteredIntrinsics',
]

/**
 * One isolate with one scenario in it. Every entry has a timeout and notes on the board that it is under way; every
 * failure disposes of the isolate and throws an AgentGymError that names scenario and place.
 */
export class Guest {
  readonly board: Int32Array
  readonly identity: ScenarioIdentity
  readonly #limits: JobLimits
  readonly #isolate: ivm.Isolate
  readonly #functions = new Map<Call, GuestFunction>()
  readonly #logs: LogOptions | undefined

  constructor(options: GuestOptions) {
    this.identity = options.identity
    this.#limits = options.limits
    this.board = new Int32Array(options.board ?? new SharedArrayBuffer(BOARD_LENGTH * Int32Array.BYTES_PER_ELEMENT))
    this.#logs = options.logs
    options.onBoard?.(this.board)
    // Never `onCatastrophicError`: in synchronous calls it puts this thread to sleep for good instead of aborting.
    this.#isolate = new ivm.Isolate({
      memoryLimit: options.limits.isolateMemoryMb,
      inspector: options.profile === true,
    })
    const context = this.#isolate.createContextSync()
    this.#bindHarness(context, options.harness)
    const factory = this.#compile(context, options.source)
    const board = new ivm.ExternalCopy(this.board).copyInto()
    const recordBuiltIns = options.recordIntrinsics === true
    const load = new ivm.ExternalCopy({ recordBuiltIns, logs: options.logs?.keep === true }).copyInto({ release: true })
    const loaded = this.cross('load', 'load', [factory.derefInto(), board, load])
    if (loaded === FAULT) throw this.failure()
  }

  #bindHarness(context: ivm.Context, source: string): void {
    const script = this.#isolate.compileScriptSync(source, { filename: 'agentgym:harness' })
    const harness: ivm.Reference<Harness> = script.runSync(context, { reference: true, timeout: this.#limits.loadMs })
    for (const name of functionNames) {
      this.#functions.set(name, harness.getSync(name, { reference: true }) as GuestFunction)
    }
  }

  /**
   * First as a script of its own: what parses alone cannot end the function that is wrapped around it and run outside
   * the harness's `try`. Compiling runs nothing, but may take long, so it counts as loading.
   */
  #compile(context: ivm.Context, source: string): ivm.Reference<unknown> {
    this.#enter('load')
    try {
      const alone = this.#isolate.compileScriptSync(source, { filename: BUNDLE_NAME })
      alone.release()
      const head = '(function (module, exports, require) {'
      // Places in stacks are those of the bundle, also in its first line.
      const origin = { filename: BUNDLE_NAME, columnOffset: -head.length }
      const script = this.#isolate.compileScriptSync(`${head}${source}\n})`, origin)
      return script.runSync(context, { reference: true, timeout: this.#limits.loadMs })
    } catch (error) {
      this.dispose()
      throw explainSyntax(this.identity, error)
    } finally {
      this.#leave()
    }
  }

  /** Starts the engine over the host's buffers. */
  start(options: StartOptions): void {
    const copy = new ivm.ExternalCopy(options as unknown as Record<string, unknown>).copyInto({ release: true })
    if (this.cross('start', 'define', [copy]) === FAULT) throw this.failure()
  }

  /** Enters the isolate. Author's code may run, and may do anything but return something else than a number. */
  cross(name: Call, phase: Phase, parameters: CrossingArgument[] = [], timeoutMs = this.#timeoutOf(phase)): number {
    const reference = this.#functions.get(name)
    this.#enter(phase)
    try {
      return reference?.applySync(undefined, parameters, { timeout: timeoutMs }) as number
    } catch (error) {
      const explained = explainCrossing(this.identity, readPlace(this.board), error, timeoutMs)
      this.dispose()
      throw explained
    } finally {
      this.#leave()
    }
  }

  /** Reads one of the harness's strings. */
  read(
    name:
      | 'description'
      | 'metricNames'
      | 'watchedTexts'
      | 'observationJson'
      | 'sceneText'
      | 'logs'
      | 'alteredIntrinsics',
  ): string {
    return String(this.cross(name, 'harness'))
  }

  /** With `profile` only. */
  profiler(): GuestProfiler {
    return new GuestProfiler(this.#isolate)
  }

  /** Hands over what the guest has logged since the last call. */
  takeLogs(): void {
    if (this.#logs === undefined) return
    const logs = readLogs(this.read('logs'))
    if (logs.calls > 0) this.#logs.take(logs)
  }

  /** Explains the fault that a crossing reported, and disposes of the isolate. */
  failure(): Error {
    this.takeLogs()
    const fault = String(this.cross('fault', 'harness'))
    this.dispose()
    return explainFault(this.identity, fault)
  }

  #timeoutOf(phase: Phase): number {
    return phase === 'load' || phase === 'define' ? this.#limits.loadMs : this.#limits.crossingMs
  }

  #enter(phase: Phase): void {
    this.board[BOARD_CROSSINGS]++
    this.board[BOARD_CROSSING] = phases.indexOf(phase)
  }

  #leave(): void {
    this.board[BOARD_CROSSING] = 0
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose()
  }
}
