import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { holdTrial, writeTrial } from './trials.store.ts'
import { insertEvents } from './usage-events.store.ts'

/** A call that was answered, on the terms on which it was admitted. */
export type ServedCall = {
  /** Of the call and of its usage event. */
  id: string
  accountId: string
  packageId: string
  versionId: string
  tokenId: string | null
  trial: boolean
  /** Of 1,000 calls. */
  priceMinor: number
}

/**
 * Counts calls in the transaction that answers them, each once, those of a trial as taken from it. Gives, for each of those,
 * how many calls of the trial were made with it.
 */
export async function countServed(
  query: Transaction<Schema>,
  calls: readonly ServedCall[],
): Promise<Map<string, number>> {
  const at = new Date().toISOString()
  const counted = await insertEvents(
    query,
    calls.map((call) => ({ ...call, calls: 1, trialCalls: call.trial ? 1 : 0, at })),
  )
  const trials = Map.groupBy(
    calls.filter(({ trial }) => trial),
    ({ accountId, packageId }) => `${accountId} ${packageId}`,
  )
  const made = new Map<string, number>()
  // In one order, whoever counts: two transactions never wait for each other's trials.
  for (const key of [...trials.keys()].sort()) {
    const ofTrial = trials.get(key) ?? []
    const [trial] = ofTrial
    let sum = await holdTrial(query, trial)
    const before = sum
    for (const { id } of ofTrial) made.set(id, counted.has(id) ? ++sum : sum)
    if (sum > before) await writeTrial(query, { ...trial, calls: sum })
  }
  return made
}
