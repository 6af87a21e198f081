import { setTimeout as delay } from 'node:timers/promises'
import { sqlState } from './violated-constraint.ts'

/** serialization_failure, deadlock_detected: PostgreSQL has undone the transaction and asks for it to be run again. */
const retriedStates = new Set(['40001', '40P01'])
const attempts = 10

/** Runs a transaction until it is not undone by a conflict with another one. Waits a random, growing time in between. */
export async function retryTransaction<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === attempts || !retriedStates.has(sqlState(error) ?? '')) throw error
      await delay(Math.random() * Math.min(5 * 2 ** attempt, 500))
    }
  }
}
