import { sql } from 'kysely'
import type { Database } from '../core/database/database.ts'

/** Final states of a run: a run that reaches one is counted once, whatever happens later. */
const finalStates = ['completed', 'failed', 'cancelled'] as const
export type FinalState = (typeof finalStates)[number]

/** `atMost[i]` runs took `durationBuckets[i]` seconds at most. */
type Durations = { runs: number; seconds: number; atMost: number[] }

/** By final state: the number of runs, and the durations of those that started. */
export type EndedRuns = Record<FinalState, { runs: number; durations: Durations }>

/** Seconds from a run's first lease to its end: from a few seconds to three days. */
export const durationBuckets = [10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 259_200]

/** A run's end is committed by then: a transaction lasts no longer than a statement may. */
const settledAfter = sql`interval '10 minutes'`

/**
 * Counts the runs that ended, of which there are ever more: those of long ago once, when the server starts, and then only what
 * is new. An ended run never changes.
 */
export function endedRuns(database: Pick<Database, 'query'>): () => Promise<EndedRuns> {
  let settled = noRuns()
  let until = new Date(0)
  return async () => {
    const { rows } = await sql<Counted & { at: Date }>`
      with moment as (select date_trunc('milliseconds', now() - ${settledAfter}) as at),
      ended as (
        select state, ended_at <= at as settled, extract(epoch from ended_at - started_at) as seconds
        from training_runs, moment where state in (${sql.join(finalStates)}) and ended_at > ${until})
      select moment.at, state, settled, count(ended) as runs, count(seconds) as begun, coalesce(sum(seconds), 0)::float8 as seconds,
        array[${atMost}] as at_most
      from moment left join ended on true group by moment.at, state, settled`.execute(database.query)
    settled = rows.filter((row) => row.settled).reduce(add, settled)
    until = rows[0].at
    return rows.filter((row) => row.settled === false).reduce(add, settled)
  }
}

const atMost = sql.join(durationBuckets.map((bucket) => sql`count(*) filter (where seconds <= ${sql.lit(bucket)})`))

/** `state` and `settled` are null if no run has ended. */
type Counted = {
  state: FinalState | null
  settled: boolean | null
  runs: number
  begun: number
  seconds: number
  at_most: number[]
}

function noRuns(): EndedRuns {
  const none = { runs: 0, durations: { runs: 0, seconds: 0, atMost: durationBuckets.map(() => 0) } }
  return { completed: none, failed: none, cancelled: none }
}

function add(ended: EndedRuns, { state, runs, begun, seconds, at_most }: Counted): EndedRuns {
  if (state === null) return ended
  const { runs: before, durations } = ended[state]
  const sum = {
    runs: durations.runs + begun,
    seconds: durations.seconds + seconds,
    atMost: durations.atMost.map((count, bucket) => count + at_most[bucket]),
  }
  return { ...ended, [state]: { runs: before + runs, durations: sum } }
}
