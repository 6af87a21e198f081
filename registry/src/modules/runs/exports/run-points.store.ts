import type { ProgressEvent } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../../core/database/database.ts'
import { curvePoints, packedPoints } from '../curves/curves.store.ts'
import { MAX_METRICS } from './metrics-csv.ts'

/** The curve of a run, in order of its iterations; read page by page, so that a long one is never in memory whole. */
export async function* runPoints(query: Queries, runId: string): AsyncGenerator<ProgressEvent> {
  for await (const { data } of curvePoints(query, runId)) yield data
}

/** Names of the scenario's own metrics that occur in a run, in alphabetical order: the first 200. */
export async function runMetricNames(query: Queries, runId: string): Promise<string[]> {
  const packed = await packedPoints(query, runId)
  const rows = await query
    .selectFrom('training_metrics')
    .select(sql<string>`jsonb_object_keys(data -> 'metrics')`.as('name'))
    .where('run_id', '=', runId)
    .groupBy('name')
    .orderBy('name')
    .limit(MAX_METRICS)
    .execute()
  const names = [...packed.flatMap(({ data }) => Object.keys(data.metrics)), ...rows.map(({ name }) => name)]
  return [...new Set(names)].sort().slice(0, MAX_METRICS)
}
