import { isNetworkFault } from '../dependencies/outage.ts'
import { sqlState } from './violated-constraint.ts'

/** Messages of node-postgres and its pool, whose connection errors have no code. */
const connectionLost =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout)/

/**
 * SQLSTATEs of a PostgreSQL that is currently unusable, whatever the statement: connection exceptions (08),
 * insufficient resources such as connections or disk (53), errors of its system (58), shutdown, crash and start (57P01
 * to 57P05), and a server that only reads, as after a failover (25006).
 */
const unavailable = /^(08...|53...|58...|57P0[1-5]|25006)$/

/** SQLSTATE disk_full. */
export const diskFull = '53100'

/** Whether a failed statement or connection is the database's fault, and may succeed later. */
export function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return unavailable.test(sqlState(error) ?? '') || isNetworkFault(error) || connectionLost.test(error.message)
}
