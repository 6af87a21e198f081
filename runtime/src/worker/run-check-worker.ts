import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient, leaseJob, sendHeartbeat, sendResult } from '@agentgym/client'
import { AgentGymError, type CheckReport, type ErrorReport, type LeasedJob } from '@agentgym/contract'
import type { JobLimits } from '../sandbox/limits.ts'
import { checkPackage } from './check-package.ts'

/** What a worker is at. `package` is `@scope/name@version`. */
export type WorkerEvent =
  | { event: 'waiting' }
  | { event: 'leased'; job: string; package: string }
  | { event: 'finished'; job: string; package: string; ok: boolean; failed: string[] }
  /** Another worker has the job, or it is over: what was found is dropped. */
  | { event: 'lost'; job: string; package: string }
  /** Not the scenario's fault. The job goes to another worker, or comes back, once its lease is over. */
  | { event: 'failed'; job: string; package: string; error: ErrorReport }
  | { event: 'unreachable'; error: ErrorReport; retryMs: number }

export type CheckWorkerOptions = {
  server: string
  /** A token with the scope `worker`. */
  token: string
  /** Ends the worker: what it is at is dropped and taken up by another. */
  signal: AbortSignal
  /** Checks at the same time; each takes about a core. */
  concurrency?: number
  onEvent?: (event: WorkerEvent) => void
  limits?: Partial<JobLimits>
  /** How long to wait where there is no job. */
  pollMs?: number
  /** A lease is kept this often; the server's lasts a minute. */
  heartbeatMs?: number
}

const LONGEST_RETRY_MS = 60_000
const RESULT_ATTEMPTS = 8

/**
 * Checks what authors upload, until the signal aborts: leases a job over HTTP, runs the scenario in the sandbox, reports.
 * Holds nothing that matters: killed at any moment, its lease runs out and another worker does the job.
 *
 * Rejects with `unauthenticated` or `forbidden`: no token of a worker.
 */
export async function runCheckWorker(options: CheckWorkerOptions): Promise<void> {
  const { server, token, concurrency = 1 } = options
  const client = createClient({ server, token })
  // Where one loop ends by an error, the others end with it.
  const broken = new AbortController()
  const signal = AbortSignal.any([options.signal, broken.signal])
  const loops = Array.from({ length: concurrency }, () => work(client, { ...options, signal }))
  try {
    await Promise.all(loops)
  } finally {
    broken.abort()
    await Promise.allSettled(loops)
  }
}

async function work(client: Client, options: CheckWorkerOptions): Promise<void> {
  const { signal, onEvent, pollMs = 2_000 } = options
  let retryMs = 1_000
  let idle = false
  while (!signal.aborted) {
    try {
      const job = await leaseJob(client, ['check'], signal)
      retryMs = 1_000
      if (job === undefined) {
        if (!idle) onEvent?.({ event: 'waiting' })
        await pause(pollMs, signal)
      } else await runJob(client, job, options)
      idle = job === undefined
    } catch (error) {
      if (signal.aborted) return
      if (!isTransient(error)) throw error
      onEvent?.({ event: 'unreachable', error: error.toReport(), retryMs })
      await pause(retryMs, signal)
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)
    }
  }
}

/** Settles whatever happens to the job; only the next lease tells whether the server still wants us. */
async function runJob(client: Client, job: LeasedJob, options: CheckWorkerOptions): Promise<void> {
  const { onEvent, limits, heartbeatMs = 10_000 } = options
  const named = { job: job.id, package: `${job.package.name}@${job.package.version}` }
  onEvent?.({ event: 'leased', ...named })
  const lost = new AbortController()
  const done = new AbortController()
  const heartbeats = keepLease(client, job, heartbeatMs, lost, AbortSignal.any([done.signal, options.signal]))
  try {
    const signal = AbortSignal.any([options.signal, lost.signal])
    const report = await checkPackage(client, job, { signal, limits })
    await deliver(client, job, report, signal)
    const failed = report.checks.filter(({ ok }) => !ok).map(({ id }) => id)
    onEvent?.({ event: 'finished', ...named, ok: report.ok, failed })
  } catch (error) {
    if (options.signal.aborted) return
    if (lost.signal.aborted || isLost(error)) onEvent?.({ event: 'lost', ...named })
    else if (error instanceof AgentGymError) onEvent?.({ event: 'failed', ...named, error: error.toReport() })
    else throw error
  } finally {
    done.abort()
    await heartbeats
  }
}

/** Sends heartbeats until `ended`; aborts `lost` once the lease is not ours. While nobody answers it may still be. */
async function keepLease(
  client: Client,
  job: LeasedJob,
  everyMs: number,
  lost: AbortController,
  ended: AbortSignal,
): Promise<void> {
  for (;;) {
    await pause(everyMs, ended)
    if (ended.aborted) return
    try {
      await sendHeartbeat(client, job, ended)
    } catch (error) {
      if (isLost(error)) return lost.abort()
    }
  }
}

/** Hands the report in, again where the server does not answer. Throws `lease_lost`. */
async function deliver(client: Client, job: LeasedJob, report: CheckReport, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendResult(client, job, report)
    } catch (error) {
      if (!isTransient(error) || attempt === RESULT_ATTEMPTS || signal.aborted) throw error
      await pause(500 * 2 ** attempt, signal)
    }
  }
}

function isLost(error: unknown): boolean {
  return error instanceof AgentGymError && error.code === 'lease_lost'
}

/** Of a kind that goes away by itself: nobody answers, too many ask, the server is in trouble. */
function isTransient(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError)) return false
  return ['server_unreachable', 'rate_limited', 'request_timeout', 'internal_error'].includes(error.code)
}

/** Some time, a little more or less each time; none once the signal aborts. */
async function pause(aboutMs: number, signal: AbortSignal): Promise<void> {
  await delay(aboutMs * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => {})
}
