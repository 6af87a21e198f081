import { totalmem } from 'node:os'

/** What a job and the guests in it may use. Every limit has a default; a test or an operator may tighten it. */
export type JobLimits = {
  /** Loading a scenario: its top level and `defineScenario`. */
  loadMs: number
  /** One crossing into the isolate: a vector step or reset of all environments of one worker. */
  crossingMs: number
  /** Mean guest time of one environment step, watched once a worker has spent `crossingMs` in steps. */
  meanStepMs: number
  /** What the supervisor adds to a limit before it kills: isolated-vm's own timeout should come first. */
  graceMs: number
  /** The job's process must start and take its job within this. */
  startMs: number
  /** The job's main thread may stay silent for this long: one update of the learner blocks it. */
  silenceMs: number
  /** V8 heap of one isolate, in MiB. V8 takes it as a guideline and may use two or three times as much. */
  isolateMemoryMb: number
  /** Resident memory of the job's whole process, in MiB. */
  processMemoryMb: number
}

const defaultLimits: JobLimits = {
  loadMs: 10_000,
  crossingMs: 10_000,
  meanStepMs: 250,
  graceMs: 1_000,
  startMs: 60_000,
  silenceMs: 600_000,
  isolateMemoryMb: 256,
  processMemoryMb: Math.min(8_192, Math.floor((0.75 * totalmem()) / 2 ** 20)),
}

export function withDefaults(limits: Partial<JobLimits> | undefined): JobLimits {
  return { ...defaultLimits, ...limits }
}
