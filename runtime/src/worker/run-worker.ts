import { randomUUID } from 'node:crypto'
import { type Client, createClient, leaseJob } from '@agentgym/client'
import {
  AgentGymError,
  type ErrorReport,
  type JobKind,
  type LeasedJob,
  type WorkerDescription,
} from '@agentgym/contract'
import { type ServingOptions, serveCalls } from '../hosting/serve-calls.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { doCheck } from './check-job.ts'
import { doEvaluation } from './evaluate-job.ts'
import { HeldLease } from './held-lease.ts'
import type { JobContext, WorkerTracing } from './job-context.ts'
import { describeMachine, type Machine, MachineUsage, machineName } from './machine.ts'
import { isLost, isTransient, now, pause, retryAfterMs, withinTime } from './server-requests.ts'
import { trainRun } from './train-run.ts'
import { nameOf, type OnWorkerEvent, type WorkerEvent } from './worker-event.ts'

/** Kinds of jobs, and calls of the agents that the server hosts. */
export type WorkerKind = JobKind | 'call'

export type WorkerOptions = {
  server: string
  /** A token with the scope `worker`. */
  token: string
  /** What it takes; everything unless told. */
  kinds?: WorkerKind[]
  /** Jobs side by side; as many as suit the machine unless told. Where trainings are taken, short jobs have one more. */
  slots?: number
  /** What others call it; the machine's name unless told. */
  name?: string
  /** What an hour of training costs, in minor units of the server's currency; nothing unless told. */
  priceMinorPerHour?: number
  /** Ends the worker in order: no further job, and what is under way is kept and given back. */
  stop: AbortSignal
  /** Ends it at once: what it is at is dropped, and taken up by another once the lease is over. */
  signal?: AbortSignal
  onEvent?: OnWorkerEvent
  limits?: Partial<JobLimits>
  /** How long to wait where there is no job. */
  pollMs?: number
  /** A lease is kept this often; the server's lasts a minute. */
  heartbeatMs?: number
  serving?: ServingOptions
}

const everyKind: WorkerKind[] = ['check', 'evaluate', 'train', 'call']
const longestRetryMs = 60_000
const requestLimitMs = 30_000
/** Memory that a slot should have at least. */
const slotBytes = 2 * 2 ** 30

/**
 * Checks what authors upload, evaluates agents, trains them and answers calls of them, until told to stop: leases jobs and
 * calls over HTTP, runs them in the sandbox, reports. Holds nothing that matters: killed at any moment, its leases run out and other workers go on.
 *
 * Rejects with `unauthenticated` or `forbidden`: no token of a worker.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { server, token, kinds = everyKind, name = machineName(), priceMinorPerHour = 0 } = options
  const machine = await describeMachine()
  const usage = new MachineUsage({ hasGpu: machine.gpus.length > 0 })
  const jobs = kinds.filter((kind) => kind !== 'call')
  const slots = jobs.length === 0 ? [] : slotsOf(jobs, options.slots ?? usualSlots(machine))
  const id = randomUUID()
  const describe = (): WorkerDescription => ({
    ...{ id, name, ...machine, slots: slots.length },
    price_minor_per_hour: priceMinorPerHour,
    usage: usage.current,
  })
  // Where one loop ends by an error, the others end with it.
  const broken = new AbortController()
  const worker: Worker = {
    ...{ client: createClient({ server, token }), describe, usage },
    tracing: await workerTracing(),
    options,
    stop: options.stop,
    signal: AbortSignal.any([broken.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    onEvent: options.onEvent ?? (() => {}),
    busy: new Set(slots),
  }
  const loops = slots.map((slot) => work(worker, slot))
  // Beside the jobs: a call takes milliseconds, and somebody waits for it.
  if (kinds.includes('call')) loops.push(serveCalls({ ...options.serving, ...worker, id }))
  try {
    await Promise.all(loops)
  } finally {
    broken.abort()
    await Promise.allSettled(loops)
    usage.close()
    await worker.tracing.close()
  }
}

type Worker = {
  client: Client
  describe(): WorkerDescription
  usage: MachineUsage
  tracing: WorkerTracing
  options: WorkerOptions
  stop: AbortSignal
  signal: AbortSignal
  onEvent: OnWorkerEvent
  /** Slots that have a job, or have not asked yet. */
  busy: Set<Slot>
}

/** What a slot takes. */
type Slot = { kinds: JobKind[] }

/** A training takes a core for its learner, and one or more for its rollouts. */
function usualSlots({ cores, memory_bytes }: Machine): number {
  return Math.max(1, Math.min(Math.floor(cores / 2), Math.floor(memory_bytes / slotBytes), 250))
}

/** Trainings may take hours: one slot is kept for what takes seconds, and somebody waits for. */
function slotsOf(kinds: JobKind[], slots: number): Slot[] {
  const short = kinds.filter((kind) => kind !== 'train')
  const all = Array.from({ length: slots }, () => ({ kinds }))
  return short.length > 0 && short.length < kinds.length ? [...all, { kinds: short }] : all
}

async function work(worker: Worker, slot: Slot): Promise<void> {
  const { client, options, stop, signal, onEvent } = worker
  const { pollMs = 2_000 } = options
  const ending = AbortSignal.any([stop, signal])
  let retryMs = 1_000
  while (!ending.aborted) {
    try {
      const askedAt = now()
      // Not given up when told to stop: the job that may be on its way would wait for the end of its lease.
      const leased = await withinTime(requestLimitMs, signal, (within) =>
        leaseJob(client, { kinds: slot.kinds, worker: worker.describe(), signal: within }),
      )
      retryMs = 1_000
      if (leased !== undefined) {
        worker.busy.add(slot)
        await runJob(worker, { ...leased, askedAt })
      } else {
        if (worker.busy.delete(slot) && worker.busy.size === 0) onEvent({ event: 'waiting' })
        await pause(pollMs, ending)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isTransient(error)) throw error
      const waitMs = retryAfterMs(error, retryMs)
      onEvent({ event: 'unreachable', error: error.toReport(), retry_ms: waitMs })
      await pause(waitMs, ending)
      retryMs = Math.min(2 * retryMs, longestRetryMs)
    }
  }
}

type Leased = { job: LeasedJob; leaseMs: number; askedAt: ReturnType<typeof now> }

/** Settles whatever happens to the job; only the next lease tells whether the server still wants us. */
async function runJob(worker: Worker, { job, leaseMs, askedAt }: Leased): Promise<void> {
  const { client, stop, signal, onEvent, options } = worker
  const { heartbeatMs = 10_000, limits } = options
  const name = nameOf(job)
  const usage = () => worker.usage.current
  onEvent({ event: 'leased', ...name, ...(job.kind === 'train' ? { attempt: job.run.attempt } : {}) })
  const lease = new HeldLease({ client, job, leaseMs, askedAt, heartbeatMs, usage, signal })
  const trace = worker.tracing.job(job)
  let end: WorkerEvent
  try {
    end = await perform(job, { lease, stop, usage, onEvent, trace, limits })
  } catch (error) {
    const lost = lease.lost.aborted || isLost(error)
    end = lost ? { event: 'lost', ...name } : { event: 'failed', ...name, error: toReport(error) }
  }
  await lease.end()
  trace.end(end)
  // Whoever ends a worker at once wants to hear no more of it.
  if (!signal.aborted) onEvent(end)
}

function perform(job: LeasedJob, context: JobContext): Promise<WorkerEvent> {
  switch (job.kind) {
    case 'check':
      return doCheck(job, context)
    case 'evaluate':
      return doEvaluation(job, context)
    case 'train':
      return trainRun(job, context)
  }
}

/** A bug or a full disk must not take the other jobs along: it is told, and the job is left to its next attempt. */
function toReport(error: unknown): ErrorReport {
  if (error instanceof AgentGymError) return error.toReport()
  const { message, stack } = error instanceof Error ? error : { message: 'a value that is no Error was thrown' }
  return {
    code: 'internal_error',
    message: `The worker failed at the job: ${message}`,
    hint: 'This is a fault of AgentGym or of the machine: a full disk, say. Please report it with the stack.',
    data: { stack },
  }
}

const noTracing: WorkerTracing = { job: () => ({ iteration: () => {}, end: () => {} }), close: async () => {} }

/** Tracing as the standard variables ask for it; none where no endpoint is set, or it is switched off. */
async function workerTracing(environment: NodeJS.ProcessEnv = process.env): Promise<WorkerTracing> {
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  const whole = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const url = whole || (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (!url || environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return noTracing
  const { openTracing } = await import('./open-tracing.ts')
  return openTracing(url)
}
