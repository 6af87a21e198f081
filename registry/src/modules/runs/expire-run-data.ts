import { sql } from 'kysely'
import type { Services } from '../../core/services.ts'

/**
 * Takes away what runs left longer ago than the settings keep it, counted from their end. A run that is over keeps the last
 * of its checkpoints until then. The sweeper takes the objects that no row names any more.
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
  await sql`delete from training_metrics where run_id in ${endedBefore(retainMetricDays)}`.execute(query)
}
