import { type JobKind, jobKindSchema, type QueueHistory } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'

const keptDays = 7

/** Records the queue and the workers of this minute. A repetition within the minute changes nothing. */
export async function sampleQueue({ database: { query }, queue }: Pick<Services, 'database' | 'queue'>): Promise<void> {
  const summary = await queue.summary()
  const connected = sql<number>`(select count(*) from workers where seen_at > now() - interval '2 minutes')`
  await query
    .insertInto('queue_samples')
    .values(
      jobKindSchema.options.map((kind) => {
        const { waiting, leased, oldestSeconds, workers } = summary[kind]
        const at = sql<Date>`date_trunc('minute', now())`
        return { at, kind, waiting, leased, oldest_seconds: oldestSeconds, workers, workers_connected: connected }
      }),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await sql`delete from queue_samples where at < now() - ${keptDays} * interval '1 day'`.execute(query)
}

/** Seconds that a point of the history covers: 180 points a day, 168 a week. */
const windows = { day: { hours: 24, pointSeconds: 480 }, week: { hours: 168, pointSeconds: 3_600 } } as const

/** The history of a day or a week: the largest values of each interval, so that no peak is lost. */
export async function readQueueHistory(query: Queries, window: keyof typeof windows): Promise<QueueHistory> {
  const { hours, pointSeconds } = windows[window]
  const { rows } = await sql<{
    at: Date
    kind: JobKind
    waiting: number
    leased: number
    oldest_seconds: number
    workers: number
    workers_connected: number
  }>`
    select to_timestamp(floor(extract(epoch from at) / ${pointSeconds}::int) * ${pointSeconds}::int) as at, kind,
      max(waiting) as waiting, max(leased) as leased, max(oldest_seconds) as oldest_seconds, max(workers) as workers,
      max(workers_connected) as workers_connected
    from queue_samples where at > now() - ${hours} * interval '1 hour'
    group by 1, 2 order by 1, 2`.execute(query)
  const nothing = { waiting: 0, leased: 0, oldest_seconds: 0, workers: 0 }
  const points = new Map<string, QueueHistory['points'][number]>()
  for (const { at, kind, workers_connected, ...sample } of rows) {
    const key = at.toISOString()
    const point = points.get(key) ?? {
      at: key,
      workers_connected,
      kinds: { replay: nothing, check: nothing, evaluate: nothing, train: nothing },
    }
    point.kinds[kind] = sample
    points.set(key, point)
  }
  return { since: new Date(Date.now() - hours * 3_600_000).toISOString(), points: [...points.values()] }
}
