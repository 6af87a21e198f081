import type { ErrorReport, JobKind, LeasedJob, RunState } from '@agentgym/contract'

/** What an event is about. `subject` is `@scope/name@version` of what is played, checked, evaluated or trained on. */
type JobName = {
  job: string
  kind: JobKind
  subject: string
  /** Of a training job: the run's id, as everything else that speaks of the run has it. */
  run?: string
}

/** What a worker reports. */
export type WorkerEvent =
  | { event: 'waiting' }
  /** A seat in a run of several workers, of which `taken` are there. */
  | { event: 'seated'; run: string; taken: number; workers: number }
  | ({ event: 'leased'; attempt?: number } & JobName)
  /** Every few seconds of a run. */
  | ({ event: 'progress'; iteration: number; steps: number; steps_total: number; return_mean: number | null } & JobName)
  | ({ event: 'checkpoint'; iteration: number; bytes: number } & JobName)
  /** The trainer's process died; the run goes on from its last checkpoint, with the same lease. */
  | ({ event: 'restarted'; error: ErrorReport; iteration: number } & JobName)
  /** A replay, a check or an evaluation has its result; `failed` are the checks and tasks that failed. */
  | ({ event: 'finished'; ok: boolean; failed: string[] } & JobName)
  /** A run has ended. */
  | ({ event: 'ended'; state: RunState; error?: ErrorReport } & JobName)
  /** Released, for another worker to continue. */
  | ({ event: 'released' } & JobName)
  /** Another worker has the job, or it has ended: results are dropped. */
  | ({ event: 'lost' } & JobName)
  /** Not the job's fault. The job is retried when its lease expires. */
  | ({ event: 'failed'; error: ErrorReport } & JobName)
  | { event: 'unreachable'; error: ErrorReport; retry_ms: number }
  | CallEvent

export type OnWorkerEvent = (event: WorkerEvent) => void

export function nameOf(job: LeasedJob): JobName {
  const { id, kind } = job
  switch (kind) {
    case 'replay':
      return { job: id, kind, subject: named(job.replay.scenario) }
    case 'check':
      return { job: id, kind, subject: named(job.package) }
    case 'evaluate':
      return { job: id, kind, subject: named(job.evaluation.agent) }
    case 'train':
      return { job: id, kind, subject: named(job.run.scenario), run: id }
  }
}

function named({ name, version }: { name: string; version: string }): string {
  return `${name}@${version}`
}

/** What a worker reports of calls of agents. `subject` is `@scope/name@version` of the agent. */
export type CallEvent =
  /** An agent's process has its model loaded. */
  | { event: 'agent_loaded'; subject: string }
  /** Of the last seconds: calls that were answered, those with an error among them. */
  | { event: 'calls_answered'; subject: string; calls: number; failed: number }
  /** An agent's process ended, or must not be started; its calls fail with that. */
  | { event: 'agent_failed'; subject: string; error: ErrorReport }
  /** Neither the callers' fault nor the agent's. The calls go to another worker, or come back, once their lease is over. */
  | { event: 'calls_dropped'; subject: string; error: ErrorReport }
  /** The server is of a version that hosts no agents. Reported once; the worker keeps polling, less often. */
  | { event: 'calls_unsupported'; error: ErrorReport }
