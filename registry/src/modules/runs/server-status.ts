import type { ServerStatus } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import { requireActor } from '../../core/access/authorize.ts'
import { isUnserved, seatedWorkers } from '../../core/queue/gang-seats.ts'
import { leaseSeconds } from '../../core/queue/job-queue.ts'
import type { Services } from '../../core/services.ts'
import type { RunServices } from './run-services.ts'

const mostWorkers = 500

/** The queue, the workers, and the number of the caller's active runs. */
export async function serverStatus(services: RunServices, actor: Actor | null): Promise<ServerStatus> {
  const { accountId } = requireActor(actor, 'training:view')
  const { database, config } = services
  const counts = await services.queue.counts()
  const jobs = (kind: keyof ServerStatus['queue'], state: 'waiting' | 'active') =>
    sum(counts.filter((count) => count.kind === kind && count.state === state))
  const queue = (kind: keyof ServerStatus['queue']) => ({
    queued: jobs(kind, 'waiting'),
    running: jobs(kind, 'active'),
  })
  const { rows: runs } = await sql<{ state: 'queued' | 'running'; runs: number; unserved: number }>`
    select state, count(*)::int as runs, (count(*) filter (where ${isUnserved('training_runs')}))::int as unserved from training_runs
    where state in ('queued', 'running') and (owner_id = ${accountId} or owner_id in (
      select organisation_id from memberships where user_id = ${accountId}))
    group by state`.execute(database.query)
  const seated = await seatedWorkers(database.query)
  const own = (state: 'queued' | 'running') => runs.find((count) => count.state === state)?.runs ?? 0
  return {
    queue: { replay: queue('replay'), check: queue('check'), evaluate: queue('evaluate'), train: queue('train') },
    workers: await workersWith(services, (id) =>
      sum([...counts.filter(({ worker }) => worker === id), ...(seated.has(id) ? [{ jobs: 1 }] : [])]),
    ),
    held_back: await holds(services),
    runs: {
      queued: own('queued'),
      running: own('running'),
      unserved: runs.find(({ state }) => state === 'queued')?.unserved ?? 0,
    },
    currency: config.training.currency,
  }
}

function sum(counts: { jobs: number }[]): number {
  return counts.reduce((total, { jobs }) => total + jobs, 0)
}

/** Workers that are held back, newest first. The module verification writes them. */
async function holds({ database }: Services): Promise<NonNullable<ServerStatus['held_back']>> {
  const rows = await database.query
    .selectFrom('worker_holds')
    .select(['id', 'worker_name as worker', 'reason', 'evaluation_id as evaluation', 'created_at'])
    .where('released_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(mostWorkers)
    .execute()
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
}

/** By name. */
async function workersWith({ database }: Services, jobsOf: (id: string) => number): Promise<ServerStatus['workers']> {
  const rows = await database.query
    .selectFrom('workers')
    .selectAll()
    .select(sql<number>`extract(epoch from now() - seen_at)::float8`.as('silent_seconds'))
    .orderBy('name')
    .orderBy('id')
    .limit(mostWorkers)
    .execute()
  return rows.map(({ id, name, description, usage, seen_at, silent_seconds }) => {
    const { slots, cores, memory_bytes, gpus, price_minor_per_hour, missing_walls = null, cuda = null } = description
    const running = jobsOf(id)
    const state = silent_seconds > leaseSeconds ? 'silent' : running > 0 ? 'busy' : 'idle'
    const seenAt = seen_at.toISOString()
    const machine = { cores, memory_bytes, gpus, cuda, missing_walls, usage }
    return { name, state, running, slots, ...machine, price_minor_per_hour, seen_at: seenAt }
  })
}
