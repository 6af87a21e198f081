import type { RunEvent, RunEventData, RunEventType } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { unpackCurve } from './curves/packed-curve.ts'

/** Progress is in a separate table: see `insertPoints`. */
type EventType = Exclude<RunEventType, 'progress'>
/** A new event of a run, without a sequence number. */
export type NewRunEvent = { [Type in EventType]: { type: Type; data: RunEventData[Type] } }[EventType]

/**
 * An event with its sequence number. The caller that assigns numbers locks the run's row and sets `last_seq` to the
 * highest.
 */
export type NumberedEvent = NewRunEvent & { seq: number }
export type NumberedPoint = { seq: number; data: RunEventData['progress'] }

/** Numbers events after `lastSeq`, in order. */
export function numbered(lastSeq: number, events: NewRunEvent[]): NumberedEvent[] {
  return events.map((event, index) => ({ ...event, seq: lastSeq + 1 + index }))
}

/** Inserts numbered events. */
export async function insertEvents(query: Queries, runId: string, events: NumberedEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map(({ seq, type, data }) => ({ run_id: runId, seq, type, data: JSON.stringify(data) }))
  await query.insertInto('run_events').values(rows).execute()
}

/** Inserts numbered points of the curve in a single statement. */
export async function insertPoints(query: Queries, runId: string, points: NumberedPoint[]): Promise<void> {
  if (points.length === 0) return
  const rows = JSON.stringify(points.map(({ seq, data }) => ({ seq, iteration: data.iteration, data })))
  await sql`
    insert into training_metrics (run_id, iteration, seq, data)
    select ${runId}::uuid, point.iteration, point.seq, point.data
    from jsonb_to_recordset(${rows}::jsonb) as point (iteration bigint, seq bigint, data jsonb)`.execute(query)
}

/**
 * The run's events after `afterSeq`, in order, at most `limit`: progress and all others together. Of a run that ended more than a
 * day ago, progress is what `curves` has kept.
 */
export async function readEvents(query: Queries, runId: string, afterSeq: number, limit: number): Promise<RunEvent[]> {
  const { rows } = await sql<{ seq: number; at: Date; type: string; data: unknown; packed: Uint8Array | null }>`
    (select seq, at, type, data, null::bytea as packed from run_events
      where run_id = ${runId} and seq > ${afterSeq} order by seq limit ${limit})
    union all
    (select seq, at, 'progress', data, null from training_metrics
      where run_id = ${runId} and seq > ${afterSeq} order by seq limit ${limit})
    union all
    select last_seq, now(), 'progress', null, points from packed_curves
      where run_id = ${runId} and last_seq > ${afterSeq}`.execute(query)
  const events = rows.flatMap(({ packed, ...event }) =>
    packed === null
      ? [event]
      : unpackCurve(packed)
          .filter(({ seq }) => seq > afterSeq)
          .map((point) => ({ ...point, type: 'progress' })),
  )
  return events
    .sort((a, b) => a.seq - b.seq)
    .slice(0, limit)
    .map(({ seq, at, type, data }) => ({ seq, at: at.toISOString(), type, data }) as RunEvent)
}
