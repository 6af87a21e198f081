import type { Rental, RentalList } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { JobQueue } from '../../core/queue/job-queue.ts'

/** Name of a rental's worker, here and at its provider. Its token works for no other. */
export function workerNameOf(id: string): string {
  return `agentgym-${id.replaceAll('-', '')}`
}

const name = sql<string>`'agentgym-' || replace(rentals.id::text, '-', '')`
const isBusy = sql<boolean>`exists (
  select from training_runs where training_runs.state = 'running' and training_runs.worker_name = ${name})`
const hasConnected = sql<boolean>`exists (select from workers where workers.name = ${name})`

/** What a rental costs: until it ended, or may still cost until its end, or has cost if it is past that. US cents, rounded up. */
const cost = sql<number>`ceil(cents_per_hour * extract(epoch from
  coalesce(ended_at, greatest(now(), ends_at)) - created_at)::float8 / 3600)::float8`

/** Rentals that have not ended, or the one with this ID. */
export async function readRentals(query: Queries, id?: string): Promise<Rental[]> {
  const which: RawBuilder<boolean> = id === undefined ? sql`ended_at is null` : sql`rentals.id = ${id}`
  // How long a worker has been without a run is known as exactly as it is asked for.
  await sql`update rentals set busy_at = now() where ended_at is null and ${isBusy}`.execute(query)
  const rows = await query
    .selectFrom('rentals')
    .select(['id', 'provider', 'gpu', 'memory_bytes', 'cents_per_hour', 'reason'])
    .select(['created_at', 'ends_at', 'closed_at', 'ended_at'])
    .select([isBusy.as('busy'), hasConnected.as('connected'), cost.as('most_cents')])
    .select(sql<number>`extract(epoch from now() - busy_at)::int`.as('idle_seconds'))
    .where(which)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ created_at, ends_at, closed_at, ended_at, idle_seconds, ...row }) => ({
    ...row,
    idle_seconds: Math.max(0, idle_seconds),
    created_at: created_at.toISOString(),
    ends_at: ends_at.toISOString(),
    closed_at: closed_at?.toISOString() ?? null,
    ended_at: ended_at?.toISOString() ?? null,
  }))
}

/** Rentals, the runs that want another one, and the money: see `rentalListSchema`. */
export async function rentalState(query: Queries, queue: JobQueue, waitSeconds: number): Promise<RentalList> {
  const rentals = await readRentals(query)
  const waiting = (await queue.waitingForGpu(query)).filter(({ served, seconds }) => !served || seconds >= waitSeconds)
  const free = rentals
    .filter(({ closed_at, busy }) => closed_at === null && !busy)
    .map(memoryOf)
    .sort((a, b) => a - b)
  const wanted = waiting
    .toSorted((a, b) => b.memory - a.memory)
    .filter(({ memory }) => {
      const fits = free.findIndex((has) => has >= memory)
      if (fits >= 0) free.splice(fits, 1)
      return fits < 0
    })
    .map(({ id, memory, seconds }) => ({ run: id, memory_bytes: memory, waiting_seconds: Math.max(0, seconds) }))
  const { machines, ...spent } = await readSpent(query)
  return { rentals, wanted, spent }
}

/** A machine of unknown memory may be anything: none more is rented for a run that it may train. */
function memoryOf({ memory_bytes: memory }: Pick<Rental, 'memory_bytes'>): number {
  return memory ?? Number.POSITIVE_INFINITY
}

/** Rentals that have not ended and the money, for the limits and for metrics. */
export async function readSpent(query: Queries): Promise<RentalList['spent'] & { machines: number }> {
  return query
    .selectFrom('rentals')
    .select([
      sql<number>`coalesce(sum(cents_per_hour) filter (where ended_at is null), 0)::float8`.as('cents_per_hour'),
      sql<number>`coalesce(sum(${cost}), 0)::float8`.as('cents_per_day'),
      sql<number>`(count(*) filter (where ended_at is null))::int`.as('machines'),
    ])
    .where(sql<boolean>`(ended_at is null or ended_at > now() - interval '24 hours')`)
    .executeTakeFirstOrThrow()
}
