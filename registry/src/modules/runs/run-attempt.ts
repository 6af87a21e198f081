import type { Heartbeat } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import { leaseLost } from '../../core/queue/leases.ts'
import type { Services } from '../../core/services.ts'
import { isNearlySpent, isSpent, meter, spentMinor } from './metering.ts'
import type { NewRunEvent } from './run-events.store.ts'
import { runChanged } from './run-signals.ts'
import { lockRun, type RunContext, type RunPatch, type RunRow, runContext } from './run-state.ts'

/** A write of the worker that has the run: both rows are locked. */
export type Write = { query: Transaction<Schema>; run: RunRow; context: RunContext; leasedMs: number }

/**
 * Everything that a worker writes about a run goes through here: one transaction that holds the lease and the run. Whoever
 * watches the run is told afterwards. Throws `lease_lost` where the attempt is not the one under way; nothing has changed
 * then.
 */
export async function writeRun<Result>(
  services: Pick<Services, 'database' | 'queue' | 'config' | 'log'>,
  attempt: Attempt,
  work: (write: Write) => Promise<Result>,
): Promise<Result> {
  const context = runContext(services)
  const result = await services.database.transaction(async (query) => {
    const { leasedMs } = await context.queue.hold(query, attempt)
    const run = await lockRun(query, attempt.id)
    if (run === undefined || !isOfRun(attempt, run)) throw leaseLost()
    return work({ query, run, context, leasedMs })
  })
  runChanged(services, attempt.id)
  return result
}

/** A run counts its attempts from 1, the queue from 0. */
export function isOfRun({ attempt }: Attempt, run: Pick<RunRow, 'state' | 'attempt'>): boolean {
  return run.state === 'running' && run.attempt === attempt + 1
}

/** What follows from the training time that a worker tells: the meter, and one warning as the budget comes to its end. */
export function takeMeter(
  run: RunRow,
  { meteredMs, leasedMs }: { meteredMs: number; leasedMs: number },
): { patch: RunPatch; events: NewRunEvent[]; metered: RunRow } {
  const reading = meter(run, { meteredMs, leasedMs })
  const metered = { ...run, ...reading }
  if (run.budget_minor === null || run.budget_warned_at !== null || !isNearlySpent(metered))
    return { patch: reading, events: [], metered }
  const data = { spent_minor: spentMinor(metered), budget_minor: run.budget_minor }
  const patch = { ...reading, budget_warned_at: sql<Date>`now()` }
  return { patch, events: [{ type: 'budget_warning', data }], metered }
}

/** Whether the worker is to end the run, and why. */
export function stopOf(
  run: Pick<RunRow, 'cancel_requested_at' | 'price_milliseconds' | 'budget_minor'>,
): Heartbeat['stop'] {
  if (run.cancel_requested_at !== null) return 'cancel'
  return isSpent(run) ? 'budget' : null
}
