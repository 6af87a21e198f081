import {
  type Earnings,
  earningsEntriesSchema,
  earningsSchema,
  payoutDestinationSchema,
  payoutSchema,
} from '@agentgym/contract'
import type { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { callApi } from '../registry/registry-api.ts'
import { sendOnce } from '../registry/send-once.ts'

export type Payout = z.infer<typeof payoutSchema>
export type PayoutDestination = z.infer<typeof payoutDestinationSchema>

export function readEarnings(connection: Connection, account?: string): Promise<Earnings> {
  return callApi(connection, { path: '/v1/earnings', query: { account }, answer: earningsSchema })
}

/** Newest first. */
export function readEntries(
  connection: Connection,
  query: { account?: string; limit?: number },
): Promise<z.infer<typeof earningsEntriesSchema>> {
  return callApi(connection, { path: '/v1/earnings/entries', query, answer: earningsEntriesSchema })
}

/** All that has cleared unless an amount is given. */
export function payOut(connection: Connection, json: { amount_minor?: number; account?: string }): Promise<Payout> {
  return sendOnce(connection, { method: 'POST', path: '/v1/payouts', json, answer: payoutSchema })
}

/** Begins what the provider asks for before it pays anybody out; the same again goes on where it was. */
export function putDestination(connection: Connection, account?: string): Promise<PayoutDestination> {
  const request = { method: 'PUT' as const, path: '/v1/payout-destination', json: { account } }
  return callApi(connection, { ...request, answer: payoutDestinationSchema })
}
