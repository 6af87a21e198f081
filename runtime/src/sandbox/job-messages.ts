import type { ErrorReport } from '@agentgym/contract'
import type { JobLimits } from './limits.ts'

/** From the supervisor to its job's process. */
export type ToJob =
  | { kind: 'job'; job: unknown; limits: JobLimits }
  /** Whatever a job is told while it runs. */
  | { kind: 'message'; message: unknown }
  /** Asks the job to end in order: keep what it has and return. */
  | { kind: 'stop' }

/** From a job's process to its supervisor. Whatever comes is data: the process may have been taken over. */
export type FromJob =
  | {
      kind: 'beat'
      /** Copies of the boards being watched, by worker. */
      boards: [worker: number, board: Int32Array][]
      /** Counts what the job says of its own progress. */
      progress: number
    }
  | { kind: 'message'; message: unknown }
  | { kind: 'result'; result: unknown }
  | { kind: 'error'; report: ErrorReport }

export const BEAT_MS = 50
