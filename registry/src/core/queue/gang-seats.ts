import { createHmac } from 'node:crypto'
import type { WorkerDescription } from '@agentgym/contract'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { Schema } from '../database/schema.ts'
import { isConnected, lacksGpus } from './gpu-matching.ts'
import type { Attempt, Gang } from './job-handler.ts'

/*
 * Jobs of several workers, all or none. A worker that permits it takes a seat and keeps it by polling; the one that takes the last seat
 * leases the job, as rank 0, and that lease's number becomes the fence of all seats. From then on each worker keeps its seat by
 * heartbeats, and the lease holds as long as every seat does. One gang forms at a time, so two never wait for each other's workers.
 */

/** How long a worker keeps its seat without polling, while the gang forms. */
const formingSeconds = 15

/** A worker that may share jobs with others. Null: it may not. */
export type GangWorker = string | null

/** `workerId` if the worker states where others reach it. */
export function gangWorker(worker: WorkerDescription | undefined): GangWorker {
  return worker?.gang === undefined ? null : worker.id
}

/** A seat of a gang that forms. */
export type Seat = { id: string; taken: number; workers: number }

const isForming = sql<boolean>`(seat.leases is null and seat.held_until > now())`
/** Whether a seat is of the lease that a job, a row of `jobs`, has now. */
const isOfLease = sql<boolean>`(jobs.state = 'leased' and seat.leases = jobs.leases)`

/** Connected workers that permit gangs. */
const gangWorkers = sql<number>`(select count(*) from workers
  where ${isConnected} and workers.trains and workers.description -> 'gang' is not null)`

/** Whether fewer workers are connected than a job or run needs at once. */
function lacksWorkers(workers: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${workers} > 1 and ${workers} > ${gangWorkers})`
}

/** Whether a queued run, by the name of its table in the statement, needs GPUs or a number of workers that are not connected. */
export function isUnserved(run: 'run' | 'training_runs'): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(`${run}.state`)} = 'queued' and (${lacksGpus(run)} or ${lacksWorkers(sql.ref(`${run}.workers`))}))`
}

/** Whether a worker may have a job, or a seat of it, as far as its number of workers is concerned. By columns of `jobs`. */
export function isWithinReach(worker: GangWorker): RawBuilder<boolean> {
  if (worker === null) return sql<boolean>`jobs.workers = 1`
  return sql<boolean>`(jobs.workers = 1 or (not ${lacksWorkers(sql`jobs.workers`)}
    and not exists (select from gang_seats seat where ${isForming} and seat.job_id <> jobs.id)
    and not exists (select from gang_seats seat join jobs held on held.kind = seat.kind and held.id = seat.job_id
      where seat.worker_id = ${worker} and (${isForming} or (held.state = 'leased' and seat.leases = held.leases)))))`
}

/** The gang that forms, for its next worker; its account has paid the turn. */
export async function formingGang(
  query: Queries,
  worker: GangWorker,
  eligible: RawBuilder<boolean>,
): Promise<{ id: string } | undefined> {
  if (worker === null) return undefined
  const { rows } = await sql<{ id: string }>`
    select id from jobs where kind = 'train' and id = any(array(select seat.job_id from gang_seats seat where ${isForming}))
      and ${eligible}
    limit 1 for update skip locked`.execute(query)
  return rows[0]
}

/** Takes a seat of a job whose row is locked. Undefined where one worker is enough. */
export async function takeSeat(query: Transaction<Schema>, id: string, worker: GangWorker): Promise<Seat | undefined> {
  const { rows } = await sql<{ workers: number }>`
    select workers from jobs where kind = 'train' and id = ${id} and workers > 1`.execute(query)
  if (rows.length === 0 || worker === null) return undefined
  await sql`delete from gang_seats seat where seat.job_id = ${id} and not ${isForming}`.execute(query)
  await sql`
    insert into gang_seats (job_id, worker_id, held_until)
    values (${id}, ${worker}, now() + ${formingSeconds} * interval '1 second')`.execute(query)
  const [{ taken }] = (
    await sql<{ taken: number }>`select count(*)::int as taken from gang_seats where job_id = ${id}`.execute(query)
  ).rows
  return { id, taken, workers: rows[0].workers }
}

/** Gives the seats of a job their ranks under its new lease, whose owner has rank 0 and no seat to keep beside it. */
export async function beginGang(
  query: Transaction<Schema>,
  id: string,
  worker: GangWorker,
  seconds: number,
): Promise<void> {
  await sql`
    update gang_seats set leases = jobs.leases, rank = ranked.rank,
      held_until = case ranked.rank when 0 then 'infinity' else now() + ${seconds} * interval '1 second' end
    from jobs, (select worker_id, (row_number() over (order by worker_id = ${worker} desc, taken_at, worker_id) - 1) as rank
      from gang_seats where job_id = ${id}) ranked
    where jobs.kind = 'train' and jobs.id = ${id} and gang_seats.job_id = ${id} and gang_seats.worker_id = ranked.worker_id`.execute(
    query,
  )
}

/** Whether every seat of a leased job is kept; true for jobs of one worker. By columns of `jobs`. */
export const isWhole = sql<boolean>`(jobs.workers = 1 or not exists (
  select from gang_seats seat where seat.job_id = jobs.id and seat.leases = jobs.leases and seat.held_until < now()))`

/** Keeps the seat of a worker that does not own the lease. The job's row is locked. `seconds`: null for good, its part is done. */
export async function keepSeat(
  query: Queries,
  { id, attempt, workerId }: Attempt,
  seconds: number | null,
): Promise<void> {
  await sql`
    update gang_seats set held_until = greatest(held_until,
      ${seconds === null ? sql`'infinity'` : sql`now() + ${seconds} * interval '1 second'`})
    where job_id = ${id} and worker_id = ${workerId} and leases = ${attempt + 1}`.execute(query)
}

/** What has become of a worker's seat: the gang still forms, and the seat is kept; it has begun, with that lease; or the seat is lost. */
export async function pollSeat(
  query: Transaction<Schema>,
  id: string,
  worker: string,
): Promise<Seat | { leases: number } | undefined> {
  const { rows } = await sql<{ workers: number }>`
    update gang_seats seat set held_until = now() + ${formingSeconds} * interval '1 second' from jobs
    where seat.job_id = ${id} and seat.worker_id = ${worker} and ${isForming} and jobs.kind = 'train' and jobs.id = ${id}
      and jobs.state = 'waiting' and not ${lacksWorkers(sql`jobs.workers`)}
    returning jobs.workers`.execute(query)
  if (rows.length > 0) {
    const { rows: all } = await sql<{ taken: number }>`
      select count(*)::int as taken from gang_seats seat where seat.job_id = ${id} and ${isForming}`.execute(query)
    return { id, taken: all[0].taken, workers: rows[0].workers }
  }
  const begun = await sql<{ leases: number }>`
    select jobs.leases from jobs join gang_seats seat on seat.job_id = jobs.id
    where jobs.kind = 'train' and jobs.id = ${id} and seat.worker_id = ${worker} and ${isOfLease}`.execute(query)
  if (begun.rows.length > 0) return begun.rows[0]
  await sql`delete from gang_seats where job_id = ${id} and worker_id = ${worker}`.execute(query)
  return undefined
}

/** Workers that have a job of another's lease, by ID. */
export async function seatedWorkers(query: Queries): Promise<Set<string>> {
  const { rows } = await sql<{ worker: string }>`
    select seat.worker_id as worker from gang_seats seat join jobs on jobs.kind = seat.kind and jobs.id = seat.job_id
    where ${isOfLease} and seat.rank > 0 and seat.held_until <> 'infinity'`.execute(query)
  return new Set(rows.map(({ worker }) => worker))
}

/** How the worker of an attempt works with others; undefined: alone. */
export async function gangOf(
  query: Queries,
  { id, attempt, workerId }: Attempt,
  secret: Uint8Array,
): Promise<Gang | undefined> {
  const { rows } = await sql<{ id: string; rank: number; name: string; price: number; address: string }>`
    select workers.id, seat.rank, workers.name, (workers.description ->> 'price_minor_per_hour')::float8 as price,
      workers.description -> 'gang' ->> 'address' as address
    from gang_seats seat join workers on workers.id = seat.worker_id
    where seat.job_id = ${id} and seat.leases = ${attempt + 1} order by seat.rank`.execute(query)
  const own = rows.find((row) => row.id === workerId)
  if (own === undefined) return undefined
  return {
    rank: own.rank,
    workers: rows.length,
    address: rows[0].address,
    // Of this attempt alone.
    secret: createHmac('sha256', secret).update(`gang:${id}:${attempt}`).digest('base64url'),
    names: rows.map(({ name }) => name),
    priceMinorPerHour: rows.reduce((sum, { price }) => sum + price, 0),
  }
}
