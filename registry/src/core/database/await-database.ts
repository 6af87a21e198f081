import { setTimeout as delay } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'
import { outageIn, reasonOf } from '../dependencies/outage.ts'
import type { Log } from '../services.ts'
import type { Database } from './database.ts'
import { isDatabaseOutage } from './database-outage.ts'
import { type DatabaseAddress, openDatabase } from './open-database.ts'
import type { PostgresqlOptions } from './postgresql-database.ts'

type Waiting = Pick<PostgresqlOptions, 'onOutage'> & {
  /** How long to retry. */
  waitMs: number
  log: Log
  /** Called once, before the first wait. */
  onWaiting?: () => void
}

const shortestPauseMs = 500
const longestPauseMs = 5_000

/**
 * Opens the database as `openDatabase` does. Retries a PostgreSQL that is unreachable or starting for `waitMs` and logs
 * each attempt, because services of one machine start in any order. Errors that waiting cannot fix, such as a wrong
 * password, are thrown immediately.
 */
export async function awaitDatabase(address: DatabaseAddress, waiting: Waiting): Promise<Database> {
  const { waitMs, log, onWaiting = () => {}, onOutage } = waiting
  const endsAt = performance.now() + waitMs
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await openDatabase(address, { onOutage })
    } catch (error) {
      const leftMs = endsAt - performance.now()
      if (!isPassing(error)) throw error
      if (leftMs <= 0) throw unavailable(error, waitMs)
      if (pauseMs === shortestPauseMs) onWaiting()
      const gives_up_in_s = Math.ceil(leftMs / 1_000)
      log.warn('waiting for the database', { error: unavailable(error, 0).message, gives_up_in_s })
      await delay(Math.min(pauseMs, leftMs))
    }
  }
}

/** A failure to connect is judged by its cause. An outage may also occur during migrations. */
function isPassing(error: unknown): boolean {
  if (outageIn(error) !== undefined) return true
  return error instanceof AgentGymError && error.code === 'database_unavailable' && isDatabaseOutage(error.cause)
}

function unavailable(error: unknown, waitedMs: number): AgentGymError {
  const report =
    error instanceof AgentGymError
      ? error.toReport()
      : { code: 'database_unavailable' as const, message: `PostgreSQL failed: ${reasonOf(outageIn(error)?.cause)}.` }
  const tried = waitedMs < 1_000 ? '' : ` Tried for ${Math.round(waitedMs / 1_000)} s.`
  return new AgentGymError({ ...report, message: report.message + tried }, { cause: error })
}
