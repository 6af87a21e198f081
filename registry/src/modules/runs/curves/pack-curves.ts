import { sql } from 'kysely'
import type { Database, Queries } from '../../../core/database/database.ts'
import { packedCurves } from '../../../core/database/migrations/0046-packed-curves.ts'
import { lockRun } from '../run-state.ts'
import { curvePoints, packedPoints } from './curves.store.ts'
import { packCurve } from './packed-curve.ts'
import { thinCurve } from './thin-curve.ts'

/**
 * Packs the curves of runs that ended more than a day ago, and thins those of more than 1,000 points. Waits for a day after the
 * migration that made the table: a server of the version before, which an upgrade has left running, does not read it.
 */
export async function packEndedCurves(database: Database, signal?: AbortSignal): Promise<void> {
  const { rows } = await sql<{ ready: boolean }>`
    select applied_at < now() - interval '1 day' as ready from migrations where name = ${packedCurves.name}`.execute(
    database.query,
  )
  if (!rows[0]?.ready) return
  for (;;) {
    const runs = await runsToPack(database.query)
    for (const id of runs) {
      if (signal?.aborted) return
      await packCurveOf(database, id)
    }
    if (runs.length < batch) return
  }
}

const batch = 100

/**
 * Steps from run to run through the index of training_metrics, which has only runs of the last day and those under way: there
 * may be any number of runs that have been packed.
 */
async function runsToPack(query: Queries): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive found as (
      (select run_id from training_metrics order by run_id limit 1)
      union all
      select (select run_id from training_metrics where run_id > found.run_id order by run_id limit 1)
      from found where found.run_id is not null
    )
    select training_runs.id from found join training_runs on training_runs.id = found.run_id
    where training_runs.ended_at < now() - interval '1 day' limit ${batch}`.execute(query)
  return rows.map(({ id }) => id)
}

/** Nothing changes if the run is resumed meanwhile. What was packed when it ended before is packed again with the rest. */
async function packCurveOf(database: Database, runId: string): Promise<void> {
  const { query } = database
  const { rows } = await sql<{ last_seq: number; iteration: number; month: string; count: number }>`
    select last_seq, iteration, date_trunc('month', ended_at, 'UTC')::date as month,
      (select count(*) from training_metrics where run_id = ${runId}) as count
    from training_runs where id = ${runId} and ended_at is not null`.execute(query)
  const [run] = rows
  if (run === undefined) return
  const points = await thinCurve(curvePoints(query, runId), {
    count: run.count + (await packedPoints(query, runId)).length,
    last: run.iteration,
    evaluations: await evaluatedIterations(query, runId),
  })
  const bytes = await packCurve(points)
  await makePartition(database, run.month)
  await database.transaction(async (query) => {
    const locked = await lockRun(query, runId)
    if (locked?.ended_at == null || locked.last_seq !== run.last_seq) return
    await query.deleteFrom('packed_curves').where('run_id', '=', runId).execute()
    const last = points[points.length - 1]
    await query
      .insertInto('packed_curves')
      .values({
        ...{ run_id: runId, month: run.month, last_iteration: last.data.iteration, last_seq: last.seq, points: bytes },
      })
      .execute()
    await query.deleteFrom('training_metrics').where('run_id', '=', runId).execute()
  })
}

async function evaluatedIterations(query: Queries, runId: string): Promise<number[]> {
  const { rows } = await sql<{ iteration: number }>`
    select (data ->> 'iteration')::bigint as iteration from run_events
    where run_id = ${runId} and type = 'evaluation' order by seq`.execute(query)
  return rows.map(({ iteration }) => iteration)
}

const nameOf = (month: string) => `packed_curves_${month.slice(0, 7).replace('-', '_')}`

async function makePartition(database: Database, month: string): Promise<void> {
  const until = new Date(`${month}T00:00:00Z`)
  until.setUTCMonth(until.getUTCMonth() + 1)
  const name = nameOf(month)
  const { rows } = await sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`.execute(
    database.query,
  )
  if (rows[0].there) return
  await database.transaction(async (query) => {
    await database.lock(query, name)
    await sql`create table if not exists ${sql.table(name)} partition of packed_curves
      for values from (${sql.lit(month)}) to (${sql.lit(until.toISOString().slice(0, 10))})`.execute(query)
  })
}

/** Drops the months that ended more than `days` ago: a curve stays up to a month longer. */
export async function dropOldCurves(database: Database, days: number): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'packed_curves'::regclass
      and to_date(right(relname, 7), 'YYYY_MM') + interval '1 month' < now() - ${days} * interval '1 day'`.execute(
    database.query,
  )
  for (const { name } of rows)
    await database.transaction(async (query) => {
      // Readers must not queue behind it: it waits for them for a moment, or the next time.
      await sql`set local lock_timeout = '2s'`.execute(query)
      await sql`drop table if exists ${sql.table(name)}`.execute(query)
    })
}
