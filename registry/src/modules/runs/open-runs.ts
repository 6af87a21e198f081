import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'

type Count = { runs: number; countedAt: number }

/** A count is good for this long, with what this process has added since. */
const freshMs = 1_000
const mostCounts = 10_000

/**
 * Throws `rate_limited` where the account has as many runs queued and running as it may. Counting them at every start would
 * make each start slower than the one before, so the count is kept for a second: replicas that take starts of one account at
 * the same time may let a few more in.
 */
export async function requireRoom({ database, config }: Services, ownerId: string): Promise<void> {
  const limit = config.training.openRuns
  let counts = countsOf.get(database)
  if (counts === undefined) {
    counts = new Map()
    countsOf.set(database, counts)
  }
  const kept = counts.get(ownerId)
  if (kept !== undefined && performance.now() - kept.countedAt < freshMs && kept.runs < limit) {
    kept.runs++
    return
  }
  const runs = await countOpenRuns(database, ownerId, limit)
  if (counts.size >= mostCounts) counts.clear()
  counts.set(ownerId, { runs: runs + 1, countedAt: performance.now() })
  if (runs >= limit)
    throw new AgentGymError({
      code: 'rate_limited',
      message: `The account has ${limit} runs queued or running, as many as it may.`,
      hint: 'Wait until some have ended, or cancel some.',
      data: { open_runs: limit, retry_after_seconds: 30 },
    })
}
const countsOf = new WeakMap<Database, Map<string, Count>>()

async function countOpenRuns({ query }: Database, ownerId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ runs: number }>`
    select count(*)::int as runs from (
      select from training_runs where owner_id = ${ownerId} and state in ('queued', 'running') limit ${limit}) as open
  `.execute(query)
  return rows[0].runs
}
