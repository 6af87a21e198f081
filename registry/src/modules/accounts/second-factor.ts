import { createHmac, randomBytes } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate, type RateLimit, refundRate } from '../../core/access/rate-limit.ts'
import { type Seal, unseal } from '../../core/access/sealed.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'

const periodSeconds = 30
/** Steps accepted before and after the current one, for clocks that are off by up to half a minute. */
const toleratedSteps = 1

const minutes = (count: number) => count * 60
/**
 * Limit of wrong codes per account. Three of a million codes are valid at a time, so 50 guesses a day succeed with a
 * chance of 1 in 6,000.
 */
const perAccount: [name: string, limit: RateLimit][] = [
  ['second-factor', { limit: 10, windowSeconds: minutes(15) }],
  ['second-factor-day', { limit: 50, windowSeconds: minutes(24 * 60) }],
]
/** Recovery codes cannot be guessed, so the limit does not apply to them and cannot lock out their owner. */
const perNetwork: RateLimit = { limit: 30, windowSeconds: minutes(15) }

export async function hasSecondFactor(query: Queries, accountId: string): Promise<boolean> {
  const row = await query
    .selectFrom('second_factors')
    .select('account_id')
    .where('account_id', '=', accountId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  return row !== undefined
}

type Entered = { accountId: string; username: string; code: string; ip: string }

/**
 * Accepts a code from the account's app or a recovery code, each once. Call it outside a transaction, so that used
 * codes stay used. Throws `second_factor_invalid`, `rate_limited`.
 */
export async function useCode(services: Services, entered: Entered): Promise<void> {
  const { database } = services
  const { accountId, username, ip } = entered
  const code = entered.code.toLowerCase().replace(/[\s-]/g, '')
  const recovery = recoveryPattern.test(code)
  const limits = recovery
    ? [[`recovery-code:${clientNetwork(ip)}`, perNetwork] as const]
    : perAccount.map(([name, limit]) => [`${name}:${accountId}`, limit] as const)
  for (const [key, limit] of limits) await limitRate(database, key, limit)
  const accepted = recovery
    ? await useRecoveryCode(services, { accountId, username, code, ip })
    : await useTotp(services, accountId, code)
  if (!accepted) {
    const subject = `account:${username}`
    await recordAudit(database.query, { actor: null, action: 'second-factor.refuse', subject, ip })
    throw codeInvalid()
  }
  // Successful attempts do not count.
  for (const [key, limit] of limits) await refundRate(database, key, limit)
}

async function useTotp({ database, config, log }: Services, accountId: string, code: string): Promise<boolean> {
  const row = await database.query
    .selectFrom('second_factors')
    .select('sealed_secret')
    .where('account_id', '=', accountId)
    .where('enabled_at', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) return false
  const secret = unseal(sealOf(config.secret, accountId), row.sealed_secret)
  if (secret === undefined) {
    log.error('the secret of a second factor cannot be opened: the installation has another secret now', {
      account_id: accountId,
    })
    return false
  }
  const step = matchingStep(secret, code)
  return step !== null && (await spendStep(database.query, accountId, step))
}

/** The time step of this code; null if it is not currently valid. */
export function matchingStep(secret: Uint8Array, code: string): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const timestamp = Date.now()
  const delta = totp(secret).validate({ token: code, timestamp, window: toleratedSteps })
  return delta === null ? null : TOTP.counter({ period: periodSeconds, timestamp }) + delta
}

/** False if this step or a later one was already used. Of two concurrent requests with one code, one gets true. */
export async function spendStep(query: Queries, accountId: string, step: number): Promise<boolean> {
  const row = await query
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('account_id', '=', accountId)
    .where('last_step', '<', step)
    .returning('account_id')
    .executeTakeFirst()
  return row !== undefined
}

/** RFC 6238 with the parameters that every app supports: SHA-1, six digits, 30 seconds. `label` is shown in the app. */
export function totp(secret: Uint8Array, label = ''): TOTP {
  return new TOTP({
    ...{ issuer: 'AgentGym', label, algorithm: 'SHA1', digits: 6, period: periodSeconds },
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
  })
}

export function sealOf(secret: Uint8Array, accountId: string): Seal {
  return { secret, purpose: 'second factor', id: accountId }
}

const recoveryCodes = 10
/** 80 random bits in base 32. */
const recoveryPattern = /^[a-z2-7]{16}$/
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Replaces an account's recovery codes; returns the new ones, which are not stored. */
export async function makeRecoveryCodes(
  query: Transaction<Schema>,
  secret: Uint8Array,
  accountId: string,
): Promise<string[]> {
  await query.deleteFrom('recovery_codes').where('account_id', '=', accountId).execute()
  const codes = Array.from({ length: recoveryCodes }, () =>
    Array.from(randomBytes(16), (byte) => base32[byte % 32]).join(''),
  )
  const rows = codes.map((code) => ({
    account_id: accountId,
    hash: recoveryHash(secret, accountId, code),
    used_at: null,
  }))
  await query.insertInto('recovery_codes').values(rows).execute()
  return codes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-'))
}

async function useRecoveryCode(
  { database, config }: Services,
  { accountId, username, code, ip }: Entered,
): Promise<boolean> {
  return database.transaction(async (query) => {
    const row = await query
      .updateTable('recovery_codes')
      .set({ used_at: new Date() })
      .where('account_id', '=', accountId)
      .where('hash', '=', recoveryHash(config.secret, accountId, code))
      .where('used_at', 'is', null)
      .returning('account_id')
      .executeTakeFirst()
    if (row === undefined) return false
    const actor = { accountId, tokenId: null }
    await recordAudit(query, { actor, action: 'recovery-code.use', subject: `account:${username}`, ip })
    return true
  })
}

/** Keyed, so that codes cannot be brute-forced from the database alone. */
function recoveryHash(secret: Uint8Array, accountId: string, code: string): string {
  return createHmac('sha256', secret).update(`recovery code\n${accountId}\n${code}`).digest('hex')
}

/** Deletes the factor and everything confirmed by it. */
export async function deleteSecondFactor(query: Transaction<Schema>, accountId: string): Promise<void> {
  await query.deleteFrom('recovery_codes').where('account_id', '=', accountId).execute()
  await query.deleteFrom('security_keys').where('account_id', '=', accountId).execute()
  await query.deleteFrom('second_factors').where('account_id', '=', accountId).execute()
  await query.updateTable('sessions').set({ confirmed_at: null }).where('user_id', '=', accountId).execute()
  await query.updateTable('tokens').set({ confirmed: false }).where('account_id', '=', accountId).execute()
}

export function codeInvalid(): AgentGymError {
  return new AgentGymError({
    code: 'second_factor_invalid',
    message: 'The code is wrong, expired or already used.',
    hint: 'Wait for the next code in your app, and check that its device’s clock is right. Recovery codes work too.',
  })
}

/** The error after a correct password, if the code is missing. */
export function codeRequired(): AgentGymError {
  return new AgentGymError({
    code: 'second_factor_required',
    message: 'This account has a second factor.',
    hint: 'Send a code from the authenticator app, or a recovery code, as `code`.',
    data: { confirm: 'log_in' },
  })
}
