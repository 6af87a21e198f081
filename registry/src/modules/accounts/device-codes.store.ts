import { randomInt } from 'node:crypto'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Scope } from '../../core/access/actor.ts'
import { hashSecret, isSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'
import type { DeviceCodeTable, Schema } from '../../core/database/schema.ts'

export type DeviceCode = Selectable<DeviceCodeTable>

/** Seconds that a person has, and seconds between two questions of the client (RFC 8628, section 3.2). */
export const deviceCodeSeconds = 600
export const pollSeconds = 5

/** No vowels, so no words, and nothing that is read as something else (RFC 8628, section 6.1): 20^8, 2.6e10 codes. */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ'

/** Starts a log-in. Both codes are of this log-in alone; the client keeps the one, a person types the other. */
export async function createDeviceCode(
  query: Queries,
  { name, scopes }: { name: string; scopes: readonly Scope[] },
): Promise<{ deviceCode: string; userCode: string }> {
  const deviceCode = makeSecret('agd_')
  const userCode = makeUserCode()
  await query
    .insertInto('device_codes')
    .values({
      hash: hashSecret(deviceCode),
      user_code: userCode,
      name,
      scopes: JSON.stringify([...new Set(scopes)]),
      account_id: null,
      expires_at: new Date(Date.now() + deviceCodeSeconds * 1_000),
    })
    .execute()
  return { deviceCode, userCode }
}

/** What a person decides about: pending, not expired. Case, spaces and dashes of what they typed do not matter. */
export async function findPendingCode(query: Queries, typed: string): Promise<DeviceCode | undefined> {
  const userCode = normaliseUserCode(typed)
  if (userCode === undefined) return undefined
  return query
    .selectFrom('device_codes')
    .selectAll()
    .where('user_code', '=', userCode)
    .where('state', '=', 'pending')
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Decides a pending code, once. False where somebody was faster or it expired meanwhile. */
export async function decideCode(
  query: Queries,
  hash: string,
  decision: { state: 'approved' | 'denied'; accountId: string },
): Promise<boolean> {
  const row = await query
    .updateTable('device_codes')
    .set({ state: decision.state, account_id: decision.accountId })
    .where('hash', '=', hash)
    .where('state', '=', 'pending')
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('hash')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * The client's question. Holds the code's row until the transaction ends, so that of two questions at once one gets the
 * token. `tooSoon` where the last answered one is younger than `pollSeconds`.
 */
export async function pollCode(
  query: Transaction<Schema>,
  deviceCode: string,
): Promise<{ code: DeviceCode; tooSoon: boolean } | undefined> {
  if (!isSecret('agd_', deviceCode)) return undefined
  const hash = hashSecret(deviceCode)
  const code = await query
    .selectFrom('device_codes')
    .selectAll()
    .where('hash', '=', hash)
    .forUpdate()
    .executeTakeFirst()
  if (code === undefined || code.expires_at.getTime() <= Date.now()) return undefined
  // A question that came too soon does not start the wait anew: an impatient client still gets its answer.
  const tooSoon = code.polled_at !== null && Date.now() - code.polled_at.getTime() < pollSeconds * 1_000
  if (!tooSoon)
    await query.updateTable('device_codes').set({ polled_at: new Date() }).where('hash', '=', hash).execute()
  return { code, tooSoon }
}

export async function markCodeUsed(query: Queries, hash: string): Promise<void> {
  await query.updateTable('device_codes').set({ state: 'used' }).where('hash', '=', hash).execute()
}

/** Takes back approvals that no client has turned into a token yet. */
export async function withdrawApprovals(query: Queries, accountId: string): Promise<void> {
  await query
    .updateTable('device_codes')
    .set({ state: 'denied' })
    .where('account_id', '=', accountId)
    .where('state', '=', 'approved')
    .execute()
}

function makeUserCode(): string {
  const letters = Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join('')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

export function normaliseUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '')
  if (letters.length !== 8 || [...letters].some((letter) => !userCodeLetters.includes(letter))) return undefined
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}
