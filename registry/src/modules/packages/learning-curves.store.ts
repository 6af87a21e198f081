import type { LearningCurve } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** As the contract caps them. */
const maxPoints = 200

/**
 * Keeps a run's curve for the agent's version that came out of it: at most 200 of its own points, evenly spaced, with the
 * last among them. Nothing where no episode ended in the run.
 */
export async function keepLearningCurve(query: Queries, runId: string, versionId: string): Promise<void> {
  await sql`
    insert into learning_curves (version_id, points)
    select ${versionId}::uuid, jsonb_agg(jsonb_build_object('steps', steps, 'return_mean', return_mean) order by steps)
    from (
      select distinct on (part) part, iteration, data -> 'steps' as steps, data -> 'return_mean' as return_mean
      from (
        select iteration, data, ntile(${sql.lit(maxPoints)}) over (order by iteration) as part
        from training_metrics
        where run_id = ${runId} and jsonb_typeof(data -> 'return_mean') = 'number'
      ) as ended
      order by part, iteration desc
    ) as kept
    having count(*) > 0`.execute(query)
}

/** Null where the version did not come out of a run here. */
export async function learningCurveOf(query: Queries, versionId: string): Promise<LearningCurve | null> {
  const row = await query
    .selectFrom('learning_curves')
    .select('points')
    .where('version_id', '=', versionId)
    .executeTakeFirst()
  return row?.points ?? null
}
