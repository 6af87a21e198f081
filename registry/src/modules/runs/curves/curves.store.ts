import type { ProgressEvent } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../../core/database/database.ts'
import { type CurvePoint, unpackCurve } from './packed-curve.ts'

/** Points of a run's curve after an iteration, in order, at most `limit`: packed ones, then those of training_metrics. */
export async function readCurve(
  query: Queries,
  runId: string,
  { after, limit }: { after: number; limit: number },
): Promise<CurvePoint[]> {
  const { rows } = await sql<{ seq: number; at: Date; data: ProgressEvent; packed: Uint8Array | null }>`
    select last_iteration as iteration, last_seq as seq, now() as at, null::jsonb as data, points as packed
      from packed_curves where run_id = ${runId} and last_iteration > ${after}
    union all
    (select iteration, seq, at, data, null from training_metrics
      where run_id = ${runId} and iteration > ${after} order by iteration limit ${limit})
    order by iteration`.execute(query)
  // Validated against its schema on arrival.
  const points = rows.flatMap(({ packed, seq, at, data }) =>
    packed === null ? [{ seq, at, data }] : unpackCurve(packed).filter((point) => point.data.iteration > after),
  )
  return points.slice(0, limit)
}

const pagePoints = 1_000

/** The curve of a run, in order of its iterations; read page by page, so that a long one is never in memory whole. */
export async function* curvePoints(query: Queries, runId: string): AsyncGenerator<CurvePoint> {
  for (let after = 0; ; ) {
    const page = await readCurve(query, runId, { after, limit: pagePoints })
    yield* page
    if (page.length < pagePoints) return
    after = page[pagePoints - 1].data.iteration
  }
}

/** The points of a run that are packed, in order. */
export async function packedPoints(query: Queries, runId: string): Promise<CurvePoint[]> {
  const row = await query.selectFrom('packed_curves').select('points').where('run_id', '=', runId).executeTakeFirst()
  return row === undefined ? [] : unpackCurve(row.points)
}
