import { AgentGymError, type Heartbeat, type progressRequestSchema, type RunEventData } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { settleRunOrder } from '../orders/index.ts'
import { stopOf, takeMeter, writeRun } from './run-attempt.ts'
import {
  insertEvents,
  insertPoints,
  type NewRunEvent,
  type NumberedEvent,
  type NumberedPoint,
} from './run-events.store.ts'
import { changeRun, type RunPatch } from './run-state.ts'

type Progress = (typeof progressRequestSchema)['_output']

/**
 * Takes iterations from the worker that has the run. A run that was resumed repeats those after its checkpoint, bit for bit
 * the same; each counts once. Gives why the run is to end, null where it is not. Throws `lease_lost`, and `request_invalid`
 * where iterations are missing in between.
 *
 * Costs six round trips to the database, however many points there are; the first iteration one or more beyond that.
 */
export async function recordProgress(
  services: Pick<Services, 'database' | 'queue' | 'config' | 'log' | 'metrics'>,
  attempt: Attempt,
  { points, evaluations, metered_ms: meteredMs }: Omit<Progress, 'lease'>,
): Promise<Heartbeat['stop']> {
  const { stop, fresh } = await writeRun(services, attempt, async ({ query, run, leasedMs }) => {
    const fresh = points.filter(({ iteration }) => iteration > run.iteration)
    requireNoGap(fresh, run.iteration)
    const { patch, events, metered } = takeMeter(run, { meteredMs, leasedMs })
    const known = await evaluatedIterations(query, run.id, evaluations)
    const added = evaluations.filter(({ iteration }) => !known.has(iteration) && known.add(iteration))
    const placed = place(run.last_seq, fresh, added, events)
    await insertPoints(query, run.id, placed.points)
    await insertEvents(query, run.id, placed.events)
    await changeRun(query, run, { ...patch, ...latest(fresh), last_seq: placed.lastSeq })
    // It trains: what was held for a scenario that is paid for by the run is its seller's.
    if (run.iteration === 0 && fresh.length > 0) await settleRunOrder(query, run.id, 'post')
    return { stop: stopOf(metered), fresh }
  })
  services.metrics.iterations(fresh.map((point) => point.collect_seconds + point.update_seconds))
  return stop
}

function requireNoGap(fresh: { iteration: number }[], reached: number): void {
  const missing = fresh.findIndex(({ iteration }, index) => iteration !== reached + 1 + index)
  if (missing === -1) return
  throw new AgentGymError({
    code: 'request_invalid',
    message: `The run has ${reached + missing} iterations, and iteration ${fresh[missing].iteration} does not follow.`,
    hint: 'Send every iteration, in order.',
    data: { field: 'points', expected: reached + missing + 1 },
  })
}

/** Those of the given evaluations' iterations that have one already. */
async function evaluatedIterations(
  query: Queries,
  runId: string,
  evaluations: { iteration: number }[],
): Promise<Set<number>> {
  if (evaluations.length === 0) return new Set()
  const iterations = sql.val(evaluations.map(({ iteration }) => iteration))
  const { rows } = await sql<{ iteration: number }>`
    select (data ->> 'iteration')::bigint as iteration from run_events
    where run_id = ${runId} and type = 'evaluation' and (data ->> 'iteration')::bigint = any(${iterations}::bigint[])
  `.execute(query)
  return new Set(rows.map(({ iteration }) => iteration))
}

/** Gives points and events their places after `lastSeq`: an evaluation stands behind the iteration that it is of. */
function place(
  lastSeq: number,
  points: RunEventData['progress'][],
  evaluations: RunEventData['evaluation'][],
  others: NewRunEvent[],
): { points: NumberedPoint[]; events: NumberedEvent[]; lastSeq: number } {
  const placed: { points: NumberedPoint[]; events: NumberedEvent[] } = { points: [], events: [] }
  const waiting = evaluations.toSorted((a, b) => a.iteration - b.iteration)
  let seq = lastSeq
  const placeUpTo = (iteration: number) => {
    while (waiting.length > 0 && waiting[0].iteration <= iteration)
      placed.events.push({ type: 'evaluation', data: waiting.splice(0, 1)[0], seq: ++seq })
  }
  for (const data of points) {
    placeUpTo(data.iteration - 1)
    placed.points.push({ seq: ++seq, data })
    placeUpTo(data.iteration)
  }
  placeUpTo(Number.POSITIVE_INFINITY)
  for (const event of others) placed.events.push({ ...event, seq: ++seq })
  return { ...placed, lastSeq: seq }
}

function latest(fresh: RunEventData['progress'][]): RunPatch {
  const last = fresh.at(-1)
  return last === undefined ? {} : { iteration: last.iteration, progress: JSON.stringify(last), idle_attempts: 0 }
}
