import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { type RunContext, type RunRow, requeueRun } from './run-state.ts'
import { latestCheckpoint } from './store-checkpoint.ts'

/**
 * What becomes of a running run whose worker has gone silent: it waits again, and what was trained since its last checkpoint
 * is not paid, as the next worker repeats it. Or it ends, as `requeueRun` says. Both rows are locked.
 */
export async function loseLease(query: Transaction<Schema>, context: RunContext, run: RunRow): Promise<RunRow> {
  const checkpoint = await latestCheckpoint(query, run.id)
  const price = Math.max(run.attempt_price_milliseconds, checkpoint?.price_milliseconds ?? 0)
  return requeueRun(query, context, run, {
    reason: 'lease_expired',
    message: `The worker ${run.worker_name} has gone silent.`,
    patch: { price_milliseconds: price, attempt_price_milliseconds: price, attempt_metered_ms: 0, worker_id: null },
  })
}
