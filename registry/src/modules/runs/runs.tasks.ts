import { sql } from 'kysely'
import type { GpuNeed } from '../../core/queue/gpu-matching.ts'
import { hasJob } from '../../core/queue/job-queue.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { dropOldCurves, packEndedCurves } from './curves/pack-curves.ts'
import type { RunServices } from './run-services.ts'
import { lockRun, runContext } from './run-state.ts'
import { loseLease } from './train-jobs.ts'

const secondMs = 1_000

/** Scheduled tasks for runs. */
export function runTasks(services: RunServices): ScheduledTask[] {
  return [
    { name: 'training.lost-leases', everyMs: 5 * secondMs, run: () => settleLostLeases(services) },
    { name: 'training.enqueue-lost-runs', everyMs: 600 * secondMs, run: () => enqueueLostRuns(services) },
    { name: 'training.expire-data', everyMs: 3_600 * secondMs, run: () => expireRunData(services) },
    {
      name: 'training.pack-curves',
      everyMs: 3_600 * secondMs,
      run: (signal) => packEndedCurves(services.database, signal),
    },
  ]
}

/** Requeues or ends runs whose worker is gone: see `requeueRun`. */
export async function settleLostLeases(
  services: Pick<RunServices, 'database' | 'queue' | 'config' | 'log' | 'runFeeds'>,
): Promise<void> {
  const { database } = services
  const context = runContext(services)
  const { rows } = await sql<{ id: string }>`
    select id from training_runs where state = 'running' and not ${hasJob('train', sql.ref('training_runs.id'), ['active'])}
    order by created_at limit 1000`.execute(database.query)
  for (const { id } of rows) {
    const lost = await database.transaction(async (query) => {
      const job = await context.queue.lock(query, 'train', id)
      const run = await lockRun(query, id)
      if (job === 'active' || run?.state !== 'running') return undefined
      const settled = await loseLease(query, context, run)
      if (settled.state === 'queued' && job !== 'waiting')
        await context.queue.enqueue(query, 'train', id, {
          ...{ attempt: run.attempt, account: run.created_by, owner: run.owner_id, gpu: run, workers: run.workers },
        })
      return { worker: run.worker_name, state: settled.state }
    })
    services.runFeeds.changed(id)
    if (lost !== undefined) services.log.warn('the worker of a run stopped responding', { run_id: id, ...lost })
  }
}

/** Recreates missing jobs of queued runs, for example after the queue was restored from a backup. */
export async function enqueueLostRuns(
  services: Pick<RunServices, 'database' | 'queue' | 'config' | 'log' | 'runFeeds'>,
): Promise<void> {
  const { queue } = runContext(services)
  const { rows } = await sql<{ id: string; attempt: number; created_by: string; workers: number } & GpuNeed>`
    select id, attempt, created_by, workers, gpus, gpu_memory, gpu_uses from training_runs where state = 'queued' and not ${hasJob('train', sql.ref('training_runs.id'), ['waiting', 'active'])}
    order by created_at limit 1000`.execute(services.database.query)
  for (const { id, attempt, created_by: account, workers, ...gpu } of rows) {
    if (await queue.recover('train', id, { attempt, account, gpu, workers }))
      services.log.warn('a run that was queued had no job', { run_id: id })
  }
}

/**
 * Deletes the data of runs that ended longer ago than the configured retention. Until then, an ended run keeps its last
 * checkpoint. The sweeper deletes the orphaned objects.
 */
export async function expireRunData({ database, config }: Pick<Services, 'database' | 'config'>): Promise<void> {
  const { query } = database
  const { retainCheckpointDays, retainTrajectoryDays, retainMetricDays } = config.training
  const endedBefore = (days: number) =>
    sql`(select id from training_runs where ended_at < now() - ${days} * interval '1 day')`
  await sql`delete from checkpoints where run_id in ${endedBefore(retainCheckpointDays)}`.execute(query)
  await sql`
    delete from checkpoints using training_runs
    where training_runs.id = checkpoints.run_id and training_runs.ended_at is not null and exists (
      select from checkpoints as later
      where later.run_id = checkpoints.run_id and later.iteration > checkpoints.iteration)`.execute(query)
  await sql`delete from trajectories where run_id in ${endedBefore(retainTrajectoryDays)}`.execute(query)
  await sql`delete from run_episodes where run_id in ${endedBefore(retainMetricDays)}`.execute(query)
  await sql`delete from training_metrics where run_id in ${endedBefore(retainMetricDays)}`.execute(query)
  await dropOldCurves(database, retainMetricDays)
}
