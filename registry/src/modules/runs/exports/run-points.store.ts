import type { ProgressEvent } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../../core/database/database.ts'
import { MAX_METRICS } from './metrics-csv.ts'

const PAGE = 1_000

/** The curve of a run, in order of its iterations; read page by page, so that a long one is never in memory whole. */
export async function* runPoints(query: Queries, runId: string): AsyncGenerator<ProgressEvent> {
  let after = 0
  for (;;) {
    const rows = await query
      .selectFrom('training_metrics')
      .select(['iteration', 'data'])
      .where('run_id', '=', runId)
      .where('iteration', '>', after)
      .orderBy('iteration')
      .limit(PAGE)
      .execute()
    // Validated against its schema on arrival.
    for (const { data } of rows) yield data as ProgressEvent
    if (rows.length < PAGE) return
    after = rows[PAGE - 1].iteration
  }
}

/** Names of the scenario's own metrics that occur in a run, in alphabetical order: the first 200. */
export async function runMetricNames(query: Queries, runId: string): Promise<string[]> {
  const rows = await query
    .selectFrom('training_metrics')
    .select(sql<string>`jsonb_object_keys(data -> 'metrics')`.as('name'))
    .where('run_id', '=', runId)
    .groupBy('name')
    .orderBy('name')
    .limit(MAX_METRICS)
    .execute()
  return rows.map(({ name }) => name)
}
