import assert from 'node:assert'
import { randomInt } from 'node:crypto'
import { type JobKind, jobKindSchema } from '@agentgym/contract'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Database, Queries } from '../database/database.ts'
import type { Schema } from '../database/schema.ts'
import {
  costOf,
  forgetTurns,
  installationAccount,
  notePassed,
  orderKinds,
  presentTurn,
  takeTurn,
} from './fair-order.ts'
import {
  beginGang,
  formingGang,
  type GangWorker,
  gangOf,
  isWhole,
  isWithinReach,
  keepSeat,
  pollSeat,
  type Seat,
  takeSeat,
} from './gang-seats.ts'
import { couldServe, type GpuNeed, type GpuOffer, gpuOffer, isConnected, isServedBy, noGpus } from './gpu-matching.ts'
import type { Attempt, Gang, LeasedAttempt } from './job-handler.ts'
import { leasable, leaseLost, leaseOf, readLease, setLeased, setReleased } from './leases.ts'

/** How long a worker may go without a heartbeat. */
export const leaseSeconds = 60
/** Maximum attempts of a job without a result. Training has its own limit, which depends on progress. */
export const maxAttempts = 3

/** The lowest priority. */
const lowestPriority = -1_000

/** Maximum duration of an attempt in seconds, regardless of heartbeats, and the maximum number of attempts. */
const limits: Record<JobKind, { seconds: number; attempts: number }> = {
  replay: { seconds: 300, attempts: maxAttempts },
  check: { seconds: 1_800, attempts: maxAttempts },
  evaluate: { seconds: 7_200, attempts: maxAttempts },
  train: { seconds: 365 * 86_400, attempts: 1_000_000 },
}
const limitOf = (limit: 'seconds' | 'attempts'): RawBuilder<number> =>
  sql`case kind ${sql.join(
    jobKindSchema.options.map((kind) => sql`when ${sql.lit(kind)} then ${sql.lit(limits[kind][limit])}`),
    sql` `,
  )} end`

/** States of jobs that wait for a worker or are leased to one. */
export type OpenJobState = 'waiting' | 'active'

type NextOptions = {
  marks?: readonly string[]
  idle?: boolean
  passed?: readonly JobKind[]
  only?: string | undefined
  offer?: GpuOffer
  gang?: GangWorker
  onSeat?: ((seat: Seat) => void) | undefined
}

/** A job that was just leased. */
type Taken = { id: string; leases: number; together: boolean }

export type JobOptions = {
  /** ID of the submitting account, for fair sharing. Default: the installation itself. */
  account?: string
  /** ID of the owning account. An organization's jobs count toward its limits as well. Default: `account`. */
  owner?: string
  /** Higher priorities first, among the account's jobs. */
  priority?: number
  /** Number of its first lease. If the subject had a job before, higher than any of its leases. */
  attempt?: number
  /** Total episodes of an evaluation. */
  episodes?: number
  /** GPUs that its worker must have. Default: none. */
  gpu?: GpuNeed
  /** Workers that must have it together. Default: 1. */
  workers?: number
}

/**
 * The job queue: a table of leases, so that a job exists exactly if its subject does (`enqueue` takes the transaction
 * that writes the subject). Every lease of a job has a higher number than the one before it, and every write by a
 * worker begins with `hold`, which locks the job's row and compares that number.
 */
/** `workers`: those with a job of the kind. */
export type QueueSummary = { waiting: number; leased: number; oldestSeconds: number; workers: number }

export class JobQueue {
  readonly #database: Database
  readonly #secret: Uint8Array
  readonly #weights: Readonly<Record<string, number>>

  /** `secret`: the installation's, authenticates leases. `weights`: shares of accounts by username. Default: 1. */
  constructor(database: Database, secret: Uint8Array, weights: Readonly<Record<string, number>> = {}) {
    this.#database = database
    this.#secret = secret
    this.#weights = weights
  }

  /** Creates a subject's job, in the transaction that writes the subject. */
  async enqueue(
    query: Transaction<Schema>,
    kind: JobKind,
    id: string,
    {
      account = installationAccount,
      owner = account,
      priority = 0,
      attempt = 0,
      episodes = 0,
      gpu = noGpus,
      workers = 1,
    }: JobOptions = {},
  ): Promise<void> {
    const { rows } = await sql`
      insert into jobs (kind, id, account_id, owner_id, priority, leases, episodes, cost, arrived, gpus, gpu_memory, gpu_uses, workers)
      values (${kind}, ${id}, ${account}, ${owner === account ? null : owner}, ${priority}, ${attempt}, ${episodes}, ${costOf(episodes) * workers}, ${presentTurn(kind)},
        ${gpu.gpus}, ${gpu.gpu_memory}, ${sql.val([...gpu.gpu_uses])}::text[], ${workers})
      on conflict (kind, id) do update set state = 'waiting', priority = excluded.priority, attempts = 0, barred = '{}',
        account_id = excluded.account_id, owner_id = excluded.owner_id, episodes = excluded.episodes, cost = excluded.cost, arrived = excluded.arrived,
        gpus = excluded.gpus, gpu_memory = excluded.gpu_memory, gpu_uses = excluded.gpu_uses, workers = excluded.workers,
        leases = greatest(jobs.leases, excluded.leases), created_at = now(), ended_at = null
      where jobs.state in ('exhausted', 'over')
      returning id`.execute(query)
    assert(rows.length === 1, `${kind} ${id} has a job already`)
  }

  /** Those of these kinds that have a job to lease, in the given order. */
  async waiting(kinds: JobKind[]): Promise<JobKind[]> {
    const { rows } = await sql<{ kind: JobKind }>`
      select wanted.kind from unnest(${sql.val(kinds)}::text[]) with ordinality as wanted (kind, position)
      where exists (select from jobs where jobs.kind = wanted.kind and ${leasable(limitOf('attempts'))})
      order by position`.execute(this.#database.query)
    return rows.map(({ kind }) => kind)
  }

  /** The order in which to try these kinds, each of which has a waiting job. */
  ordered(waiting: readonly JobKind[]): Promise<JobKind[]> {
    return orderKinds(this.#database.query, waiting)
  }

  /**
   * Leases the next job of a kind, from the account whose turn it is. Skips jobs that bar one of the worker's `marks`,
   * jobs with a priority below 0 unless `idle`, and jobs that need GPUs unless the `offer` has them. `passed`: other kinds with
   * waiting jobs that the worker accepts. `only`: the job with this ID, or none. `gang`: the worker, if it may share a job with
   * others: where it gets a seat instead, which `keepSeat` keeps, `onSeat` is called.
   */
  async next(
    kind: JobKind,
    workerId: string | null,
    { marks = [], idle = true, passed = [], only, offer = gpuOffer(undefined), gang = null, onSeat }: NextOptions = {},
  ): Promise<LeasedAttempt | undefined> {
    const eligible = sql<boolean>`(${leasable(limits[kind].attempts)}
      and priority >= ${idle ? lowestPriority : 0} and not barred && ${sql.val(marks)}::text[] and ${isServedBy(offer)}
      and ${isWithinReach(gang)} ${only === undefined ? sql`` : sql`and jobs.id = ${only}`})`
    const leased = await this.#database.transaction(async (query): Promise<{ seat: Seat } | Taken | undefined> => {
      await this.#database.lock(query, `queue:${kind}`)
      const turn =
        (kind === 'train' && (await formingGang(query, gang, eligible))) ||
        (await takeTurn(query, { kind, eligible, weights: this.#weights }))
      if (turn === undefined) return undefined
      await notePassed(query, kind, passed)
      const seat = kind === 'train' ? await takeSeat(query, turn.id, gang) : undefined
      if (seat !== undefined && seat.taken < seat.workers) return { seat }
      const { rows } = await sql<{ leases: number }>`
        update jobs set ${setLeased(leaseSeconds * 1_000)}, leases = leases + 1, leased_at = now(),
          worker_id = ${workerId}
        where kind = ${kind} and id = ${turn.id} returning leases`.execute(query)
      if (seat !== undefined) await beginGang(query, turn.id, gang, leaseSeconds)
      return { id: turn.id, leases: rows[0].leases, together: seat !== undefined }
    })
    if (leased === undefined) return undefined
    if ('seat' in leased) return void onSeat?.(leased.seat)
    const attempt = { kind, id: leased.id, attempt: leased.leases - 1, workerId }
    return this.#leased(
      attempt,
      leased.together ? await gangOf(this.#database.query, attempt, this.#secret) : undefined,
    )
  }

  /** Keeps a worker's seat while the gang forms; gives its lease once it has begun, and undefined where the seat is lost. */
  async keepSeat(id: string, workerId: string): Promise<LeasedAttempt | { seat: Seat } | undefined> {
    const found = await this.#database.transaction((query) => pollSeat(query, id, workerId))
    if (found === undefined) return undefined
    if (!('leases' in found)) return { seat: found }
    const attempt: Attempt = { kind: 'train', id, attempt: found.leases - 1, workerId }
    return this.#leased(attempt, await gangOf(this.#database.query, attempt, this.#secret))
  }

  #leased(attempt: Attempt, gang: Gang | undefined): LeasedAttempt {
    return { ...attempt, lease: leaseOf(this.#secret, attempt), gang }
  }

  /** Ends a worker's part in a job that it has with others: it need not keep its seat any more. Throws `lease_lost` like `hold`. */
  async finishSeat(query: Transaction<Schema>, attempt: Attempt): Promise<void> {
    await this.hold(query, attempt)
    await keepSeat(query, attempt, null)
  }

  /**
   * The first step of every write about a job: locks its row until the transaction ends and extends the lease. Resolves
   * to the age of the lease in milliseconds. Throws `lease_lost` if another attempt has the job, or none. Of several workers
   * each keeps its own seat; the lease, which rank 0 keeps, is lost with any of them.
   */
  async hold(query: Transaction<Schema>, attempt: Attempt): Promise<{ leasedMs: number }> {
    return requireHeld(await this.tryHold(query, attempt))
  }

  /** Like `hold`, but returns undefined instead of throwing. */
  async tryHold(query: Transaction<Schema>, attempt: Attempt): Promise<{ leasedMs: number } | undefined> {
    const longest = sql`least(now() + ${leaseSeconds} * interval '1 second',
      leased_at + ${limits[attempt.kind].seconds} * interval '1 second')`
    const isOwner = sql`workers = 1 or worker_id = ${attempt.workerId}`
    const kept = sql`leased_until = case when ${isOwner} then ${longest} else leased_until end`
    const held = await this.#write(query, attempt, kept, isWhole)
    if (held !== undefined && !held.owner) await keepSeat(query, attempt, leaseSeconds)
    return held
  }

  /** Ends a job in the transaction of its result. Throws `lease_lost` like `hold`. */
  async complete(query: Transaction<Schema>, attempt: Attempt): Promise<void> {
    requireHeld(await this.#write(query, attempt, over))
  }

  /**
   * Requeues a job that was just completed, in the same transaction, for a worker without a mark in `barred`. It keeps
   * its place in the queue, and its attempts restart from 0.
   */
  async repeat(query: Transaction<Schema>, kind: JobKind, id: string, barred: readonly string[]): Promise<void> {
    const { rows } = await sql`
      update jobs set state = 'waiting', attempts = 0, leased_until = null, ended_at = null, worker_id = null,
        barred = ${sql.val(barred)}::text[], arrived = ${presentTurn(kind)}
      where kind = ${kind} and id = ${id} and state = 'over' returning id`.execute(query)
    assert(rows.length === 1, `${kind} ${id} is not over`)
  }

  /** Raises a job that was left for idle time, because a user now waits for it. */
  async raise(query: Transaction<Schema>, kind: JobKind, id: string): Promise<void> {
    await sql`update jobs set priority = 0 where kind = ${kind} and id = ${id} and priority < 0`.execute(query)
  }

  /** Releases a job: it waits again immediately, and the attempt does not count. Throws `lease_lost` like `hold`. */
  async release(query: Transaction<Schema>, attempt: Attempt): Promise<{ leasedMs: number }> {
    return requireHeld(await this.#write(query, attempt, sql`${setReleased}, arrived = ${presentTurn(attempt.kind)}`))
  }

  /** Updates the row if the attempt still has the job; otherwise undefined. */
  async #write(
    query: Transaction<Schema>,
    { kind, id, attempt, workerId }: Attempt,
    change: RawBuilder<unknown>,
    condition: RawBuilder<boolean> = sql`true`,
  ): Promise<{ leasedMs: number; owner: boolean } | undefined> {
    const { rows } = await sql<{ leased_ms: number; owner: boolean }>`
      update jobs set ${change}
      where kind = ${kind} and id = ${id} and state = 'leased' and leases = ${attempt + 1} and ${condition}
      returning (extract(epoch from clock_timestamp() - leased_at) * 1000)::float8 as leased_ms,
        workers = 1 or worker_id = ${workerId} as owner`.execute(query)
    return rows.length === 0 ? undefined : { leasedMs: rows[0].leased_ms, owner: rows[0].owner }
  }

  /** Locks a job's row, even if a worker has it. Undefined if the subject has no job, or had one long ago. */
  async lock(query: Transaction<Schema>, kind: JobKind, id: string): Promise<OpenJobState | 'over' | undefined> {
    const { rows } = await sql<{ state: string }>`
      select state from jobs where kind = ${kind} and id = ${id} for update`.execute(query)
    const state = rows[0]?.state
    if (state === undefined || state === 'waiting') return state
    return state === 'leased' ? 'active' : 'over'
  }

  /** Ends a job, leased or not. Its worker, if any, loses the lease. */
  async end(query: Transaction<Schema>, kind: JobKind, id: string): Promise<void> {
    await sql`update jobs set ${over} where kind = ${kind} and id = ${id} and state <> 'over'`.execute(query)
  }

  /** The attempt of a lease. Throws `lease_lost` for a forged lease, or for another kind of job. */
  attemptOf(kind: JobKind, id: string, lease: string): Attempt {
    const attempt = this.anyAttemptOf(id, lease)
    if (attempt.kind !== kind) throw leaseLost()
    return attempt
  }

  anyAttemptOf(id: string, lease: string): Attempt {
    return readLease(this.#secret, id, lease)
  }

  /** Throws `lease_lost` unless that attempt has the job. For reads; writes use `hold`. */
  async requireActive({ kind, id, attempt }: Attempt): Promise<void> {
    const { rows } = await sql`
      select from jobs where kind = ${kind} and id = ${id} and state = 'leased' and leases = ${attempt + 1}`.execute(
      this.#database.query,
    )
    if (rows.length === 0) throw leaseLost()
  }

  /** The jobs of each kind. `oldestSeconds`: how long the job that has waited longest waits; 0 if none does. */
  async summary(): Promise<Record<JobKind, QueueSummary>> {
    const { rows } = await sql<{ kind: JobKind } & QueueSummary>`
      select kind, count(*) filter (where state = 'waiting')::int as waiting,
        count(*) filter (where state = 'leased')::int as leased,
        coalesce(extract(epoch from now() - min(created_at) filter (where state = 'waiting')), 0)::int as "oldestSeconds",
        count(distinct worker_id) filter (where state = 'leased')::int as workers
      from jobs where state in ('waiting', 'leased') group by kind`.execute(this.#database.query)
    const of = (kind: JobKind): QueueSummary => {
      const { waiting = 0, leased = 0, oldestSeconds = 0, workers = 0 } = rows.find((row) => row.kind === kind) ?? {}
      return { waiting, leased, oldestSeconds, workers }
    }
    return { replay: of('replay'), check: of('check'), evaluate: of('evaluate'), train: of('train') }
  }

  /**
   * Waiting trainings that need one GPU, oldest first. `served`: whether a connected worker has such a GPU, free or not.
   */
  async waitingForGpu(query: Queries): Promise<{ id: string; memory: number; seconds: number; served: boolean }[]> {
    const [gpus, gpu_memory, gpu_uses] = [sql.ref('jobs.gpus'), sql.ref('jobs.gpu_memory'), sql.ref('jobs.gpu_uses')]
    const { rows } = await sql<{ id: string; memory: number; seconds: number; served: boolean }>`
      select id, gpu_memory::float8 as memory, extract(epoch from now() - created_at)::int as seconds,
        exists (select from workers where ${isConnected} and workers.trains and ${couldServe({ gpus, gpu_memory, gpu_uses })}) as served
      from jobs where kind = 'train' and gpus = 1 and priority >= 0 and ${leasable(limits.train.attempts)}
      order by created_at, id limit 1000`.execute(query)
    return rows
  }

  /** Number of waiting and leased jobs, and of jobs per worker ID. */
  async counts(): Promise<{ kind: JobKind; state: OpenJobState; worker: string | null; jobs: number }[]> {
    const { rows } = await sql<{ kind: JobKind; state: OpenJobState; worker: string | null; jobs: number }>`
      select kind, case state when 'leased' then 'active' else 'waiting' end as state,
        case state when 'leased' then worker_id end as worker, count(*)::int as jobs
      from jobs where state in ('waiting', 'leased') group by 1, 2, 3`.execute(this.#database.query)
    return rows
  }

  /**
   * Creates a missing job for an unfinished subject, for example after a database restore. Resolves to whether it was
   * missing. Unless the module knows earlier lease numbers, new ones start above any that the lost job can have had.
   */
  async recover(
    kind: JobKind,
    id: string,
    { attempt = randomInt(1_000, 1_000_000), ...options }: JobOptions = {},
  ): Promise<boolean> {
    return this.#database.transaction(async (query) => {
      await this.#database.lock(query, `job:${kind}:${id}`)
      const { rows } = await sql`
        select from jobs where kind = ${kind} and id = ${id} and state <> 'over'`.execute(query)
      if (rows.length > 0) return false
      await this.enqueue(query, kind, id, { attempt, ...options })
      return true
    })
  }

  /**
   * Revokes the leases of workers that stopped responding or took too long: their jobs wait again, or are exhausted.
   */
  async expireLeases(): Promise<void> {
    await sql`
      update jobs set leased_until = null,
        arrived = coalesce((select max(started) from queue_turns where queue_turns.kind = jobs.kind), 0),
        state = case when attempts < ${limitOf('attempts')} then 'waiting' else 'exhausted' end
      where (kind, id) in (
        select kind, id from jobs where state = 'leased' and (leased_until < now() or not ${isWhole}) for update skip locked)`.execute(
      this.#database.query,
    )
  }

  /** Subjects whose attempts have all failed, oldest first. */
  async exhausted(kind: JobKind): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from jobs where kind = ${kind} and state = 'exhausted' order by created_at`.execute(
      this.#database.query,
    )
    return rows.map(({ id }) => id)
  }

  /** Ends an exhausted job in the transaction of its consequences; false if it was already ended. */
  async settle(query: Transaction<Schema>, kind: JobKind, id: string): Promise<boolean> {
    const { rows } = await sql`
      update jobs set ${over} where kind = ${kind} and id = ${id} and state = 'exhausted' returning id`.execute(query)
    return rows.length === 1
  }

  /** Deletes jobs that ended a week ago, and tags of accounts that no longer matter. */
  async forgetEnded(): Promise<void> {
    await sql`delete from jobs where ended_at < now() - interval '7 days'`.execute(this.#database.query)
    await forgetTurns(this.#database.query)
  }
}

function requireHeld<Held>(held: Held | undefined): Held {
  if (held === undefined) throw leaseLost()
  return held
}

const over = sql`state = 'over', leased_until = null, ended_at = now()`

/** Whether the subject with that id has a job in one of these states; for statements of modules about their subjects. */
export function hasJob(kind: JobKind, id: RawBuilder<unknown>, states: OpenJobState[]): RawBuilder<boolean> {
  const stored = states.map((state) => sql.lit(state === 'active' ? 'leased' : state))
  return sql`exists (
    select from jobs where jobs.kind = ${kind} and jobs.id = ${id} and jobs.state in (${sql.join(stored)}))`
}
