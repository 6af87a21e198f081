import { AgentGymError } from '@agentgym/contract'
import { type Actor, scopes as allScopes } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import type { Services } from '../../core/services.ts'
import { findAccountById } from './accounts.store.ts'
import { type DeviceCode, decideCode, markCodeUsed, pollCode } from './device-codes.store.ts'
import { daysFromNow, defaultTokenDays, requireGrantable } from './grant-token.ts'
import { createToken } from './tokens.store.ts'

type Pending = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token'
type Redeemed = { token: Awaited<ReturnType<typeof createToken>>; username: string }

/** The client's question: the token, made now and once, or why there is none. */
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

/** A person's decision, by the session of a browser. Throws `expired_token` where it comes too late, `forbidden`. */
export async function decideDeviceCode(
  { database }: Services,
  actor: Actor,
  code: DeviceCode,
  state: 'approved' | 'denied',
  ip: string,
): Promise<void> {
  if (state === 'approved') requireGrantable(actor, scopesOf(code))
  await database.transaction(async (query) => {
    if (!(await decideCode(query, code.hash, { state, accountId: actor.accountId })))
      throw new AgentGymError({ code: 'expired_token', message: 'This log-in is decided already, or took too long.' })
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
