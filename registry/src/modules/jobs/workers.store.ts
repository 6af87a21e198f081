import type { JobKind, WorkerDescription, WorkerUsage } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** Rows are not updated more often than this. */
const freshness = sql<Date>`now() - interval '3 seconds'`

/** Stores a worker's description of itself. */
export async function noteWorker(
  query: Queries,
  worker: WorkerDescription,
  { owner, kinds }: { owner: string; kinds: readonly JobKind[] },
): Promise<void> {
  const { id, name, usage } = worker
  const described = { name, description: JSON.stringify(worker), usage: JSON.stringify(usage) }
  const row = { ...described, owner, seen_at: sql<Date>`now()` }
  const evaluates = kinds.includes('evaluate')
  const trains = kinds.includes('train')
  await query
    .insertInto('workers')
    .values({ id, ...row, evaluates, trains })
    .onConflict((conflict) =>
      conflict
        .column('id')
        // A worker requests different kinds in separate loops.
        .doUpdateSet({
          ...row,
          evaluates: sql<boolean>`workers.evaluates or ${evaluates}`,
          trains: sql<boolean>`workers.trains or ${trains}`,
        })
        .where((where) =>
          where.or([
            where('workers.seen_at', '<', freshness),
            where('workers.evaluates', '<', evaluates),
            where('workers.trains', '<', trains),
          ]),
        ),
    )
    .execute()
}

/** Records that a worker is alive and, if reported, its load. */
export async function noteUsage(query: Queries, workerId: string | null, usage?: WorkerUsage): Promise<void> {
  if (workerId === null) return
  await query
    .updateTable('workers')
    .set({ seen_at: sql<Date>`now()`, ...(usage === undefined ? {} : { usage: JSON.stringify(usage) }) })
    .where('id', '=', workerId)
    .where('seen_at', '<', freshness)
    .execute()
}

/** Deletes workers that have been gone for long. */
export async function forgetWorkers(query: Queries): Promise<void> {
  await query.deleteFrom('workers').where('seen_at', '<', sql<Date>`now() - interval '1 day'`).execute()
}
