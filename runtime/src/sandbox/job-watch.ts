import { AgentGymError } from '@agentgym/contract'
import { isCrossing, type Place, progressKey, readPlace } from './board.ts'
import { BEAT_MS } from './job-process.ts'
import type { JobLimits } from './limits.ts'
import type { OutputTail } from './output-tail.ts'
import { formatMs, scenarioError } from './scenario-failure.ts'
import type { ScenarioIdentity } from './vector-environment.ts'

type WatchedBoard = { board: Int32Array; key: string; sinceMs: number }

/** A verdict of the watch: the guest hangs there, or the job's own main thread does not answer. */
type Hang = { place: Place; limitMs: number } | { place: undefined; limitMs: number }

/**
 * Time and progress as the supervisor sees them. Its clock counts at most a few ticks at a time, so that a pause of the
 * supervisor itself (a suspended laptop, a long synchronous task) is never held against the job.
 */
export class JobWatch {
  readonly #limits: JobLimits
  readonly #boards = new Map<number, WatchedBoard>()
  #nowMs = 0
  #lastTick = performance.now()
  #lastHeardMs = 0
  #started = false
  #progress = 0
  #progressedMs = 0

  constructor(limits: JobLimits) {
    this.#limits = limits
  }

  tick(): void {
    const now = performance.now()
    this.#nowMs += Math.min(now - this.#lastTick, 4 * BEAT_MS)
    this.#lastTick = now
  }

  /** Any message shows that the main thread lives. */
  heard(): void {
    this.#started = true
    this.#lastHeardMs = this.#nowMs
  }

  beat(boards: readonly [worker: number, board: Int32Array][], progress: number): void {
    if (progress !== this.#progress) {
      this.#progress = progress
      this.#progressedMs = this.#nowMs
    }
    for (const [worker, board] of boards) {
      const key = progressKey(board)
      const known = this.#boards.get(worker)
      if (known !== undefined && known.key === key) known.board = board
      else this.#boards.set(worker, { board, key, sinceMs: this.#nowMs })
    }
  }

  /**
   * A guest hangs when its board stood still through heartbeats for its limit. Only heartbeats count: while the main
   * thread is busy, what its last one said may long be over.
   */
  hang(): Hang | undefined {
    for (const { board, sinceMs } of this.#boards.values()) {
      if (!isCrossing(board)) continue
      const place = readPlace(board)
      const limitMs = place.phase === 'load' || place.phase === 'define' ? this.#limits.loadMs : this.#limits.crossingMs
      if (this.#lastHeardMs - sinceMs > limitMs + this.#limits.graceMs) return { place, limitMs }
    }
    const limitMs = this.#started ? this.#limits.silenceMs : this.#limits.startMs
    if (this.#nowMs - Math.max(this.#lastHeardMs, this.#progressedMs) > limitMs) return { place: undefined, limitMs }
    return undefined
  }

  /** Where guest code was running at the last heartbeat: of several workers, the one that stood still longest. */
  guestPlace(): Place | undefined {
    const running = [...this.#boards.values()].filter(({ board }) => isCrossing(board))
    if (running.length === 0) return undefined
    return readPlace(running.reduce((oldest, next) => (next.sinceMs < oldest.sinceMs ? next : oldest)).board)
  }
}

const SHOWN_TAIL = 2048
/** What V8 and the allocators print before they abort. */
const outOfMemory =
  /heap out of memory|is_heap_oom = 1|Allocation failed|Fatal process out of memory|invalid (array|table|size)|bad_alloc|Zone|Committing semi space failed/i
const memoryHint = "Look for arrays, maps or strings that grow; the limit is one isolate's, not one environment's."

export function explainHang(identity: ScenarioIdentity, hang: Hang, output: OutputTail): AgentGymError {
  if (hang.place !== undefined) {
    return scenarioError(identity, {
      code: 'scenario_timeout',
      place: hang.place,
      what: `${hang.place.phase} did not return within ${formatMs(hang.limitMs)} and could not be interrupted`,
      data: { limit_ms: hang.limitMs },
    })
  }
  return new AgentGymError({
    code: 'training_failed',
    message: `The job's process did not answer for ${formatMs(hang.limitMs)} and was ended.`,
    hint: 'A machine that swaps or an update of a very large model can do this: use smaller minibatches.',
    data: { scenario: identity.name, version: identity.version, output: output.shown(SHOWN_TAIL) },
  })
}

export function explainMemory(
  identity: ScenarioIdentity,
  watch: JobWatch,
  memoryMb: number,
  limits: JobLimits,
  output: OutputTail,
): AgentGymError {
  const place = watch.guestPlace()
  const data = { memory_mb: Math.round(memoryMb), limit_mb: limits.processMemoryMb }
  if (place !== undefined) {
    const what = `${place.phase} brought the process to ${data.memory_mb} MiB; it may use ${data.limit_mb} MiB`
    return scenarioError(identity, { code: 'scenario_out_of_memory', place, what, hint: memoryHint, data })
  }
  return new AgentGymError({
    code: 'training_failed',
    message: `The job's process used ${data.memory_mb} MiB; it may use ${data.limit_mb} MiB. No scenario code was running.`,
    hint: 'Use fewer environments, a shorter rollout or a smaller network.',
    data: { scenario: identity.name, version: identity.version, ...data, output: output.shown(SHOWN_TAIL) },
  })
}

/** The process ended without a result: by the guest's doing if guest code was running, else by ours. */
export function explainExit(
  identity: ScenarioIdentity,
  watch: JobWatch,
  output: OutputTail,
  code: number | null,
  signal: NodeJS.Signals | null,
): AgentGymError {
  const place = watch.guestPlace()
  const ended = signal === null ? `exit status ${code}` : signal
  const data = { signal, exit_status: code, output: output.shown(SHOWN_TAIL) }
  if (place !== undefined) return explainGuestExit(identity, place, ended, output, data)
  return new AgentGymError({
    code: 'training_failed',
    message: `The job's process ended early (${ended}). No scenario code was running.`,
    hint: signal === 'SIGKILL' ? 'The system may have run out of memory.' : 'The end of its output is in data.output.',
    data: { scenario: identity.name, version: identity.version, ...data },
  })
}

function explainGuestExit(
  identity: ScenarioIdentity,
  place: Place,
  ended: string,
  output: OutputTail,
  data: Record<string, unknown>,
): AgentGymError {
  // A SIGKILL that is not ours is the kernel's: the machine or the job's cgroup had no memory left.
  const memory = ended === 'SIGKILL' || outOfMemory.test(output.raw)
  return scenarioError(identity, {
    code: memory ? 'scenario_out_of_memory' : 'scenario_crashed',
    place,
    what: `${place.phase} ${memory ? 'used up the memory and ' : ''}ended the process (${ended})`,
    hint: memory ? memoryHint : undefined,
    data,
  })
}
