import type { LeasedJob, ProgressEvent } from '@agentgym/contract'
import type { WorkerEvent } from './worker-event.ts'

/** The span of one job. */
export type JobTrace = {
  /** An iteration that the trainer has just done. */
  iteration(point: ProgressEvent): void
  end(event: WorkerEvent): void
}

/** What traces a worker's jobs. Here only what the worker needs of it: the library is loaded where tracing is on. */
export type WorkerTracing = {
  /** Goes on with the trace of whoever asked for the job. */
  job(job: LeasedJob): JobTrace
  /** Sends what is left. Does not fail; waits for a collector that does not answer for a few seconds at most. */
  close(): Promise<void>
}

const nothing: WorkerTracing = { job: () => ({ iteration: () => {}, end: () => {} }), close: async () => {} }

/** Tracing as the standard variables ask for it; none where no endpoint is set, or it is switched off. */
export async function workerTracing(environment: NodeJS.ProcessEnv = process.env): Promise<WorkerTracing> {
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  const whole = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const url = whole || (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (!url || environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return nothing
  const { openTracing } = await import('./open-tracing.ts')
  return openTracing(url)
}
