import type { JobKind, LeasedJob, WorkerDescription } from '@agentgym/contract'
import { gangWorker, type Seat } from '../../core/queue/gang-seats.ts'
import { gpuOffer } from '../../core/queue/gpu-matching.ts'
import type { JobBody, JobHandler, LeasedAttempt } from '../../core/queue/job-handler.ts'
import { type JobQueue, leaseSeconds } from '../../core/queue/job-queue.ts'
import { installationOwner, marksOf } from '../../core/queue/worker-place.ts'
import type { Services } from '../../core/services.ts'
import { noteWorker } from './workers.store.ts'

/**
 * Leases the next job of one of `kinds` to the caller; undefined if there is none, or where it gets a seat in a run of several workers. Short jobs come before long ones,
 * whatever the order of the request, but only up to a limit (`orderKinds`).
 */
export async function leaseJob(
  services: Pick<Services, 'database' | 'queue' | 'config' | 'log'>,
  handlers: JobHandler[],
  { kinds, worker, free_gpus: free, gpu_only: gpuOnly, owner = installationOwner, run, onSeat }: LeaseRequest,
): Promise<LeasedJob | undefined> {
  const { queue } = services
  const { database } = services
  if (worker !== undefined) await noteWorker(database.query, worker, { owner, kinds })
  const gang = gangWorker(worker)
  const train = handlers.find(({ kind }) => kind === 'train')
  if (run !== undefined && gang !== null && train !== undefined) {
    const seated = await leaseSeat(services, train, worker, { run, gang })
    if (seated !== undefined && 'seat' in seated) onSeat?.(seated.seat)
    if (seated !== undefined) return 'seat' in seated ? undefined : seated
  }
  const place = { owner, machine: worker?.machine ?? null }
  const wanted = handlers.filter(({ kind }) => kinds.includes(kind))
  const waiting = await queue.waiting(wanted.map(({ kind }) => kind))
  const open = new Map<JobKind, JobHandler>()
  for (const handler of wanted)
    if (waiting.includes(handler.kind) && (await handler.admits?.(place)) !== false) open.set(handler.kind, handler)
  const kindsInOrder = await queue.ordered([...open.keys()])
  const offer = gpuOffer(worker, free, gpuOnly)
  // Idle-time jobs come after all other jobs, of any kind.
  let seat: Seat | undefined
  for (const idle of [false, true])
    for (const kind of kindsInOrder) {
      const passed = kindsInOrder.filter((other) => other !== kind)
      const handler = open.get(kind)
      const job =
        handler &&
        (await leaseNext(services, queue, handler, worker, {
          marks: marksOf(place),
          idle,
          passed,
          only: run,
          offer,
          gang,
          onSeat: (taken) => {
            seat = taken
          },
        }))
      if (seat !== undefined) onSeat?.(seat)
      if (job !== undefined || seat !== undefined) return job
    }
  return undefined
}

type LeaseRequest = {
  kinds: JobKind[]
  worker?: WorkerDescription | undefined
  /** See `gpuOffer`. */
  free_gpus?: number[] | undefined
  gpu_only?: boolean | undefined
  /** ID of the account of the worker's token. Default: the installation itself. */
  owner?: string
  /** Only the job of this run. */
  run?: string | undefined
  /** Called where the caller gets a seat in a run of several workers. */
  onSeat?(seat: Seat): void
}

async function leaseNext(
  { database }: Pick<Services, 'database'>,
  queue: JobQueue,
  handler: JobHandler,
  worker: WorkerDescription | undefined,
  options: NonNullable<Parameters<JobQueue['next']>[2]>,
): Promise<LeasedJob | undefined> {
  for (;;) {
    const attempt = await queue.next(handler.kind, worker?.id ?? null, options)
    if (attempt === undefined) return undefined
    const { id } = attempt
    const body = await database.transaction(async (query) => {
      // A cancel may have ended the job since.
      if (!(await queue.tryHold(query, attempt))) return undefined
      const described = await handler.describe(query, attempt, worker)
      if (described === undefined) await queue.end(query, handler.kind, id)
      return described
    })
    handler.changed?.(id)
    if (body !== undefined) return leased(attempt, body)
  }
}

function leased({ id, lease }: LeasedAttempt, body: JobBody): LeasedJob {
  return { id, lease, expires_at: leaseEnd(), ...body }
}

/** For a worker with a seat: the seat, until rank 0 has begun the run; then the job. Undefined where the seat is lost. */
async function leaseSeat(
  { queue, database }: Pick<Services, 'queue' | 'database'>,
  handler: JobHandler,
  worker: WorkerDescription | undefined,
  { run, gang }: { run: string; gang: string },
): Promise<LeasedJob | { seat: Seat } | undefined> {
  const attempt = await queue.keepSeat(run, gang)
  if (attempt === undefined || 'seat' in attempt) return attempt
  const body = await database.transaction((query) => handler.describe(query, attempt, worker))
  if (body !== undefined) return leased(attempt, body)
  const { workers = 0 } = attempt.gang ?? {}
  return { seat: { id: run, taken: workers, workers } }
}

/** Expiry of a lease renewed now. */
export function leaseEnd(): string {
  return new Date(Date.now() + leaseSeconds * 1000).toISOString()
}

type ReleaseRequest = {
  id: string
  lease: string
  reason: string
  meteredMs?: number | undefined
  /** The attempt counts. */
  failed?: boolean | undefined
  /** Only the caller's part is done. */
  finished?: boolean | undefined
}

/** Releases a job before its lease expires: it is available to other workers immediately. Throws `lease_lost`. */
export async function releaseJob(
  services: Pick<Services, 'database' | 'queue' | 'config' | 'log'>,
  handlers: JobHandler[],
  { id, lease, reason, meteredMs, failed = false, finished = false }: ReleaseRequest,
): Promise<void> {
  const { queue } = services
  const attempt = queue.anyAttemptOf(id, lease)
  const handler = handlers.find(({ kind }) => kind === attempt.kind)
  if (finished) return services.database.transaction((query) => queue.finishSeat(query, attempt))
  await services.database.transaction(async (query) => {
    const { leasedMs } = await queue.release(query, attempt)
    await handler?.released?.(query, attempt, { reason, failed, meteredMs, leasedMs })
  })
  handler?.changed?.(id)
}
