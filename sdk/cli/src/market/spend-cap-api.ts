import { type SpendCap, spendCapListSchema, spendCapSchema } from '@agentgym/contract'
import { z } from 'zod'
import type { Connection } from '../account/connection.ts'
import { callApi } from '../registry/registry-api.ts'

export async function listCaps(connection: Connection, account?: string): Promise<SpendCap[]> {
  const { caps } = await callApi(connection, { path: '/v1/spend-caps', query: { account }, answer: spendCapListSchema })
  return caps
}

export type NewCap = { token_id?: string; period: string; amount_minor: number; account?: string }
type Headers = Record<string, string>

/** Sets a cap, or changes the one of the same account, token and period. */
export function putCap(connection: Connection, json: NewCap, headers: Headers): Promise<SpendCap> {
  return callApi(connection, { method: 'PUT', path: '/v1/spend-caps', json, headers, answer: spendCapSchema })
}

export async function removeCap(connection: Connection, id: string, headers: Headers): Promise<void> {
  const path = `/v1/spend-caps/${encodeURIComponent(id)}`
  // 204: there is nothing to read.
  await callApi(connection, { method: 'DELETE', path, headers, answer: z.undefined() })
}
