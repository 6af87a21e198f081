import { randomUUID } from 'node:crypto'
import type { usageEventsRequestSchema } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import { createTrader, type Listed, type Listing, listPackage } from '../../orders/testing/marketplace.ts'

export type UsageEvent = z.output<typeof usageEventsRequestSchema>['events'][number]

export type Terms = {
  trialCalls?: number
  callsPriceMinor?: number
  licenseMinor?: number
  royaltyBasisPoints?: number
}

/**
 * An agent with the terms of its calls, of a seller of its own; with `royaltyBasisPoints` on another seller's scenario.
 */
export async function meteredAgent(
  database: Database,
  { trialCalls = 0, callsPriceMinor = 0, licenseMinor = 0, royaltyBasisPoints }: Terms,
): Promise<Listed & { seller: Actor; author: Actor | null }> {
  const seller = await createTrader(database, 'seller')
  const author = royaltyBasisPoints === undefined ? null : await createTrader(database, 'author')
  const scenario =
    author === null
      ? undefined
      : await listPackage(database, { ownerId: author.accountId, owner: author.username, royaltyBasisPoints })
  const price: Listing['price'] = licenseMinor === 0 ? undefined : { kind: 'one_time', amountMinor: licenseMinor }
  const listed = await listPackage(database, {
    ...{ ownerId: seller.accountId, owner: seller.username, kind: 'agent', price, scenario },
  })
  await setCallTerms(database, listed, { trialCalls, callsPriceMinor })
  return { ...listed, seller, author }
}

export async function setCallTerms(
  { query }: Database,
  { id }: Pick<Listed, 'id'>,
  { trialCalls, callsPriceMinor }: { trialCalls: number; callsPriceMinor: number },
): Promise<void> {
  const terms = { trial_calls: trialCalls, calls_price_minor: callsPriceMinor }
  await query
    .insertInto('sale_terms')
    .values({ package_id: id, ...terms })
    .onConflict((conflict) => conflict.column('package_id').doUpdateSet(terms))
    .execute()
}

export function usageEvent(
  agent: Pick<Listed, 'name'>,
  { username }: Pick<Actor, 'username'>,
  calls: number,
  more: Partial<UsageEvent> = {},
): UsageEvent {
  const at = new Date().toISOString()
  return { id: randomUUID(), package: agent.name, version: '1.0.0', account: username, calls, at, ...more }
}
