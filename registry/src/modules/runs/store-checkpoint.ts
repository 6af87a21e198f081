import { AgentGymError, type checkpointQuerySchema, type Heartbeat } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Attempt } from '../../core/queue/job-handler.ts'
import type { Services } from '../../core/services.ts'
import { lockObject } from '../packages/index.ts'
import { readBounded } from './read-bounded.ts'
import { stopOf, takeMeter, writeRun } from './run-attempt.ts'
import { changeRun } from './run-state.ts'

/** Of a run under way; older ones go as a new one comes. */
const keptCheckpoints = 3

/**
 * Takes a checkpoint from the worker that has the run: its bytes are durable before any row names them. The same iteration
 * again changes nothing. Gives why the run is to end, null where it is not.
 *
 * Throws `lease_lost`; `request_too_large`; `request_invalid` where the bytes are others than their hash says, or where the
 * run has not yet been told of all iterations before: whoever goes on from there could not send those any more.
 */
export async function storeCheckpoint(
  services: Services,
  attempt: Attempt,
  checkpoint: Omit<(typeof checkpointQuerySchema)['_output'], 'lease'>,
  request: Request,
): Promise<Heartbeat['stop']> {
  const { database, objects, config } = services
  const { iteration, steps, seconds, sha256, metered_ms: meteredMs } = checkpoint
  // Before all the bytes are read for nothing.
  await services.queue.requireActive(attempt)
  return readBounded(request, config.training.checkpointBytes, async (bytes) => {
    const key = await objects.put(bytes)
    if (key !== `sha256/${sha256}`)
      throw invalid('sha256', `The checkpoint's SHA-256 is not ${sha256}: it came damaged.`)
    return writeRun(services, attempt, async ({ query, run, leasedMs }) => {
      if (iteration > run.iteration)
        throw invalid('iteration', `The run has ${run.iteration} iterations; this is a checkpoint of ${iteration}.`)
      const { patch, events, metered } = takeMeter(run, { meteredMs, leasedMs })
      await lockObject(database, query, key)
      // The sweeper may have come between.
      if (!(await objects.has(key))) await objects.put(bytes)
      const inserted = await query
        .insertInto('checkpoints')
        .values({
          run_id: run.id,
          iteration,
          steps,
          seconds,
          price_milliseconds: metered.price_milliseconds,
          object_key: key,
          sha256,
          size: bytes.length,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('iteration')
        .executeTakeFirst()
      if (inserted === undefined) await changeRun(query, run, patch, events)
      else {
        await dropOlder(query, run.id)
        const stored = { type: 'checkpoint', data: { iteration, steps } } as const
        await changeRun(query, run, { ...patch, idle_attempts: 0 }, [stored, ...events])
      }
      return stopOf(metered)
    })
  })
}

/** The checkpoint to go on from. */
export async function latestCheckpoint(query: Queries, runId: string) {
  return query
    .selectFrom('checkpoints')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('iteration', 'desc')
    .limit(1)
    .executeTakeFirst()
}

async function dropOlder(query: Queries, runId: string): Promise<void> {
  await sql`
    delete from checkpoints where run_id = ${runId} and iteration < (
      select min(iteration) from (
        select iteration from checkpoints where run_id = ${runId} order by iteration desc limit ${keptCheckpoints}
      ) as kept)`.execute(query)
}

function invalid(field: string, message: string): AgentGymError {
  const hint = 'Send every iteration before the checkpoint that follows on it, and its bytes whole.'
  return new AgentGymError({ code: 'request_invalid', message, hint, data: { field } })
}
