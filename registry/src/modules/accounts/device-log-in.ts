import { randomInt } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, scopes as allScopes, requireSecondFactor, type Scope } from '../../core/access/authorize.ts'
import { hashSecret, isSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'
import type { DeviceCodeTable, Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findAccountById } from './accounts.store.ts'
import { createToken, daysFromNow, defaultTokenDays, requireGrantable } from './tokens.store.ts'

type Pending = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token'
type Redeemed = { token: Awaited<ReturnType<typeof createToken>>; username: string }

/** The client's poll. Returns the token, created now and only once, or the reason why there is none. */
export async function redeemDeviceCode(
  { database }: Services,
  deviceCode: string,
  ip: string,
): Promise<Redeemed | { failure: Pending }> {
  return database.transaction(async (query) => {
    const polled = await pollCode(query, deviceCode)
    if (polled === undefined || polled.code.state === 'used') return { failure: 'expired_token' }
    const { code, tooSoon } = polled
    if (tooSoon) return { failure: 'slow_down' }
    if (code.state === 'pending') return { failure: 'authorization_pending' }
    const account = code.account_id === null ? undefined : await findAccountById(query, code.account_id)
    if (code.state === 'denied' || account === undefined || account.disabled_at !== null)
      return { failure: 'access_denied' }
    await markCodeUsed(query, code.hash)
    const token = await createToken(query, {
      accountId: account.id,
      name: code.name,
      scopes: scopesOf(code),
      expiresAt: daysFromNow(defaultTokenDays),
      confirmed: code.confirmed,
    })
    await recordAudit(query, {
      actor: { accountId: account.id, tokenId: null },
      action: 'token.create',
      subject: `token:${token.id}`,
      ip,
      data: { name: token.name, scopes: token.scopes, by: 'device' },
    })
    return { token, username: account.username }
  })
}

/**
 * The user's decision in a browser session. Throws `expired_token` if it is too late, `forbidden`,
 * `second_factor_required`.
 */
export async function decideDeviceCode(
  { database }: Services,
  actor: Actor,
  code: DeviceCode,
  state: 'approved' | 'denied',
  ip: string,
): Promise<void> {
  if (state === 'approved') {
    requireSecondFactor(actor)
    requireGrantable(actor, scopesOf(code))
  }
  await database.transaction(async (query) => {
    if (!(await decideCode(query, code.hash, { state, actor })))
      throw new AgentGymError({
        code: 'expired_token',
        message: 'This login was already approved or denied, or has expired.',
      })
    await recordAudit(query, {
      actor,
      action: state === 'approved' ? 'device.approve' : 'device.deny',
      subject: `account:${actor.username}`,
      ip,
      data: { name: code.name, scopes: code.scopes },
    })
  })
}

export function scopesOf(code: DeviceCode) {
  return allScopes.filter((scope) => code.scopes.includes(scope))
}

export type DeviceCode = Selectable<DeviceCodeTable>

/** Lifetime of a code, and the polling interval, in seconds (RFC 8628, section 3.2). */
export const deviceCodeSeconds = 600
export const pollSeconds = 5

/** No vowels, so no words, and no look-alike characters (RFC 8628, section 6.1): 20^8, 2.6e10 codes. */
const userCodeLetters = 'BCDFGHJKLMNPQRSTVWXZ'

/** Starts a login with two codes: the client keeps one, the user types the other. */
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

/** The pending login with the typed code, if not expired. Ignores case, spaces and dashes. */
export async function findPendingCode(query: Queries, typed: string): Promise<DeviceCode | undefined> {
  const userCode = normalizeUserCode(typed)
  if (userCode === undefined) return undefined
  return query
    .selectFrom('device_codes')
    .selectAll()
    .where('user_code', '=', userCode)
    .where('state', '=', 'pending')
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Decides a pending code, once. False if it was decided already or has expired. */
async function decideCode(
  query: Queries,
  hash: string,
  { state, actor: { accountId, factorConfirmed: confirmed = false } }: { state: 'approved' | 'denied'; actor: Actor },
): Promise<boolean> {
  const row = await query
    .updateTable('device_codes')
    .set({ state, account_id: accountId, confirmed })
    .where('hash', '=', hash)
    .where('state', '=', 'pending')
    .where('expires_at', '>', sql<Date>`now()`)
    .returning('hash')
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Handles the client's poll. Locks the code's row until the transaction ends, so that only one of two polls gets the
 * token. `tooSoon` if less than `pollSeconds` have passed since the last answered one.
 */
async function pollCode(
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
  // An early poll does not restart the wait: an impatient client still gets its answer.
  const tooSoon = code.polled_at !== null && Date.now() - code.polled_at.getTime() < pollSeconds * 1_000
  if (!tooSoon)
    await query.updateTable('device_codes').set({ polled_at: new Date() }).where('hash', '=', hash).execute()
  return { code, tooSoon }
}

async function markCodeUsed(query: Queries, hash: string): Promise<void> {
  await query.updateTable('device_codes').set({ state: 'used' }).where('hash', '=', hash).execute()
}

/** Withdraws approvals that no client has exchanged for a token yet. */
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

export function normalizeUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '')
  if (letters.length !== 8 || [...letters].some((letter) => !userCodeLetters.includes(letter))) return undefined
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}
