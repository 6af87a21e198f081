import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { type Client, createClient, leaseJob } from '@agentgym/client'
import {
  AgentGymError,
  type ErrorReport,
  fileFailure,
  type GangSeat,
  type JobKind,
  type LeasedJob,
  type WorkerDescription,
} from '@agentgym/contract'
import { runtimeSignature } from '../evaluation/runtime-signature.ts'
import { type ServingOptions, serveCalls } from '../hosting/serve-calls.ts'
import type { JobLimits } from '../sandbox/limits.ts'
import { doCheck } from './check-job.ts'
import { doEvaluation } from './evaluate-job.ts'
import { HeldLease } from './held-lease.ts'
import type { JobContext, WorkerTracing } from './job-context.ts'
import { describeMachine, findGpus, type Machine, MachineUsage, machineName } from './machine.ts'
import { doReplay } from './replay-job.ts'
import { isLost, isTransient, now, pause, retryAfterMs, withinTime } from './server-requests.ts'
import { trainRun } from './train-run.ts'
import { nameOf, type OnWorkerEvent, type WorkerEvent } from './worker-event.ts'
import { WorkerGpus } from './worker-gpus.ts'

/** Kinds of jobs, and calls of the agents that the server hosts. */
export type WorkerKind = JobKind | 'call'

export type WorkerOptions = {
  server: string
  /** A token with the scope `worker`. */
  token: string
  /** Kinds of work to accept. Default: all. */
  kinds?: WorkerKind[]
  /** Takes the training of this run, and nothing else. Default: any job. */
  run?: string | undefined
  /** Takes trainings that need a GPU, and nothing else. Default: any job. */
  gpuOnly?: boolean | undefined
  /** Where other workers reach this one, as `host:port`: it then trains runs of several workers with them. Default: it doesn't. */
  gangAddress?: string | undefined
  /** Concurrent jobs. Default: what the machine can run. If trainings are among them, short jobs have one more slot. */
  slots?: number
  /** Display name. Default: the machine's name. */
  name?: string
  /** Price of an hour of training, in minor units of the server's currency. Default: 0. */
  priceMinorPerHour?: number
  /** Ends the worker gracefully: it leases nothing more, and keeps and releases its current jobs. */
  stop: AbortSignal
  /** Ends it at once: current jobs are dropped, and other workers get them when the leases expire. */
  signal?: AbortSignal
  onEvent?: OnWorkerEvent
  limits?: Partial<JobLimits>
  /** Pause between polls when there is no job. */
  pollMs?: number
  /** Interval of heartbeats; a lease lasts a minute. */
  heartbeatMs?: number
  serving?: ServingOptions
}

const everyKind: WorkerKind[] = ['replay', 'check', 'evaluate', 'train', 'call']
const longestRetryMs = 60_000
/** A seat is lost after 15 s. */
const seatPollMs = 2_000
const requestLimitMs = 30_000
const defaultHeartbeatMs = 10_000
/** Memory that a slot should have at least. */
const slotBytes = 2 * 2 ** 30

/**
 * Checks uploaded scenarios, evaluates and trains agents and answers calls until `stop` aborts: leases jobs and calls over
 * HTTP, runs them in the sandbox and reports. Keeps no state: if it is killed, its leases expire and other workers continue.
 *
 * Rejects with `unauthenticated` or `forbidden` if the token is not a worker's.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { server, token, kinds = everyKind, name = machineName(), priceMinorPerHour = 0 } = options
  const found = await findGpus()
  const machine = await describeMachine(found)
  const usage = new MachineUsage({ hasGpu: machine.gpus.length > 0 })
  const jobs = kinds.filter((kind) => kind !== 'call')
  const slots = jobs.length === 0 ? [] : slotsOf(jobs, options.slots ?? usualSlots(machine))
  const id = randomUUID()
  const describe = (): WorkerDescription => ({
    ...{ id, name, ...machine, slots: slots.length },
    price_minor_per_hour: priceMinorPerHour,
    ...(options.gangAddress === undefined ? {} : { gang: { address: options.gangAddress } }),
    usage: usage.current,
    runtime: runtimeSignature(),
  })
  // An error in one loop ends the others.
  const broken = new AbortController()
  const worker: Worker = {
    ...{ client: createClient({ server, token }), describe, usage, gpus: new WorkerGpus(found) },
    tracing: await workerTracing(),
    options,
    stop: options.stop,
    signal: AbortSignal.any([broken.signal, ...(options.signal === undefined ? [] : [options.signal])]),
    onEvent: options.onEvent ?? (() => {}),
    busy: new Set(slots),
  }
  const loops = slots.map((slot) => work(worker, slot))
  // Concurrently with the jobs: a call takes milliseconds, and its caller waits.
  if (kinds.includes('call')) loops.push(serveCalls({ ...options.serving, ...worker, id, name }))
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
  gpus: WorkerGpus
  tracing: WorkerTracing
  options: WorkerOptions
  stop: AbortSignal
  signal: AbortSignal
  onEvent: OnWorkerEvent
  /** Slots that have a job, or have not polled yet. */
  busy: Set<Slot>
}

/** What a slot takes. */
type Slot = { kinds: JobKind[] }

/** A training takes a core for its learner, and one or more for its rollouts. */
function usualSlots({ cores, memory_bytes }: Machine): number {
  return Math.max(1, Math.min(Math.floor(cores / 2), Math.floor(memory_bytes / slotBytes), 250))
}

/** Trainings may take hours: one slot is reserved for short jobs, whose users wait. */
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
  let seat: GangSeat | undefined
  while (!ending.aborted) {
    const held: GangSeat | undefined = seat
    try {
      seat = undefined
      const requestedAt = now()
      // Not aborted by `stop`: a job just leased would have to wait for its lease to expire.
      const leased = await worker.gpus.inTurn(async () => {
        const answer = await withinTime(requestLimitMs, signal, (within) =>
          leaseJob(client, {
            ...{ kinds: held === undefined ? slot.kinds : ['train'], worker: worker.describe() },
            ...{ freeGpus: worker.gpus.free, run: held?.run ?? options.run, gpuOnly: options.gpuOnly, signal: within },
            onSeat: (given) => {
              if (given.taken !== held?.taken) onEvent({ event: 'seated', ...given })
              seat = given
            },
          }),
        )
        return answer && { ...answer, gpus: gpusOf(worker, answer.job) }
      })
      retryMs = 1_000
      if (leased !== undefined) {
        worker.busy.add(slot)
        await runJob(worker, { ...leased, requestedAt }).finally(leased.gpus.end)
      } else if (seat !== undefined) await pause(Math.min(pollMs, seatPollMs), ending)
      else if (held === undefined) {
        if (worker.busy.delete(slot) && worker.busy.size === 0) onEvent({ event: 'waiting' })
        await pause(pollMs, ending)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isTransient(error)) throw error
      seat = held
      const waitMs = retryAfterMs(error, retryMs)
      onEvent({ event: 'unreachable', error: error.toReport(), retry_ms: waitMs })
      await pause(waitMs, ending)
      retryMs = Math.min(2 * retryMs, longestRetryMs)
    }
  }
}

/** The GPUs that a training has to itself; others get none. */
function gpusOf({ gpus }: Worker, job: LeasedJob): ReturnType<WorkerGpus['take']> {
  return gpus.take((job.kind === 'train' ? job.run.gpu : null) ?? { count: 0, memory_bytes: 0 })
}

type Leased = { job: LeasedJob; leaseMs: number; requestedAt: ReturnType<typeof now>; gpus: { uuids: string[] } }

/** Never rejects: whether the server still accepts this worker shows at the next lease. */
async function runJob(worker: Worker, { job, leaseMs, requestedAt, gpus }: Leased): Promise<void> {
  const { client, stop, signal, onEvent, options } = worker
  const { heartbeatMs = defaultHeartbeatMs, limits } = options
  const name = nameOf(job)
  const usage = () => worker.usage.current
  onEvent({ event: 'leased', ...name, ...(job.kind === 'train' ? { attempt: job.run.attempt } : {}) })
  const lease = new HeldLease({ client, job, leaseMs, requestedAt, heartbeatMs, usage, signal })
  const trace = worker.tracing.job(job)
  let end: WorkerEvent
  try {
    end = await perform(job, { lease, stop, usage, onEvent, trace, limits, heartbeatMs, gpus: gpus.uuids })
  } catch (error) {
    const lost = lease.lost.aborted || isLost(error)
    end = lost ? { event: 'lost', ...name } : { event: 'failed', ...name, error: toReport(error) }
  }
  await lease.end()
  trace.end(end)
  // A worker that is killed reports nothing more.
  if (!signal.aborted) onEvent(end)
}

function perform(job: LeasedJob, context: JobContext): Promise<WorkerEvent> {
  switch (job.kind) {
    case 'replay':
      return doReplay(job, context)
    case 'check':
      return doCheck(job, context)
    case 'evaluate':
      return doEvaluation(job, context)
    case 'train':
      return trainRun(job, context)
  }
}

/** A bug or a full disk must not end the other jobs: it is reported, and the job left to its next attempt. */
function toReport(thrown: unknown): ErrorReport {
  const error = fileFailure(thrown, tmpdir())
  if (error instanceof AgentGymError) return error.toReport()
  const { message, stack } = error instanceof Error ? error : { message: 'a value that is not an Error was thrown' }
  return {
    code: 'internal_error',
    message: `The worker failed to run the job: ${message}`,
    hint: 'This is a fault of AgentGym or of the machine. Please report it with the stack.',
    data: { stack },
  }
}

const noTracing: WorkerTracing = { job: () => ({ iteration: () => {}, end: () => {} }), close: async () => {} }

/** Tracing as configured by the standard OTEL_… variables; none without an endpoint, or if disabled. */
async function workerTracing(environment: NodeJS.ProcessEnv = process.env): Promise<WorkerTracing> {
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  const whole = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const url = whole || (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (!url || environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return noTracing
  const { openTracing } = await import('./open-tracing.ts')
  return openTracing(url)
}
