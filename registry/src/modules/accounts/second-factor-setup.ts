import { randomBytes } from 'node:crypto'
import { AgentGymError, type SecondFactor } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, requireSession } from '../../core/access/authorize.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import { seal, unseal } from '../../core/access/sealed.ts'
import type { Database } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { sendLetter } from '../../core/mail/send-letter.ts'
import { inBackground } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { findAccountById, requireAccount } from './accounts.store.ts'
import { verifyPassword } from './log-in.ts'
import {
  codeInvalid,
  deleteSecondFactor,
  makeRecoveryCodes,
  matchingStep,
  sealOf,
  spendStep,
  totp,
} from './second-factor.ts'
import { luciaSessions } from './sessions.ts'

const secretBytes = 20

/** State of the caller's second factor. */
export async function showSecondFactor({ database }: Services, actor: Actor): Promise<SecondFactor> {
  const { query } = database
  const row = await query
    .selectFrom('second_factors')
    .select('enabled_at')
    .where('account_id', '=', actor.accountId)
    .executeTakeFirst()
  const { left } = await query
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('left'))
    .where('account_id', '=', actor.accountId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  return {
    enabled_at: row?.enabled_at?.toISOString() ?? null,
    recovery_codes_left: left,
    confirmed: actor.factorConfirmed ?? null,
  }
}

/**
 * Creates the secret for the user's app and replaces an unconfirmed one. Requires a session, and the password if there
 * is one, so that a stolen session cannot lock its owner out. Throws `forbidden`, `credentials_invalid`,
 * `second_factor_conflict`.
 */
export async function beginSecondFactor(
  { database, config }: Services,
  caller: Actor,
  { password }: { password: string | undefined },
): Promise<{ secret: string; uri: string }> {
  const { accountId, username } = requireSession(caller)
  const account = await findAccountById(database.query, accountId)
  const stored = account?.password_hash ?? null
  if (stored !== null && !(await verifyPassword(stored, password ?? '')))
    throw new AgentGymError({ code: 'credentials_invalid', message: 'The current password is wrong.' })
  const secret = randomBytes(secretBytes)
  const sealed_secret = seal(sealOf(config.secret, accountId), secret)
  const row = await database.query
    .insertInto('second_factors')
    .values({ account_id: accountId, sealed_secret, enabled_at: null })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet({ sealed_secret }).where('second_factors.enabled_at', 'is', null),
    )
    .returning('account_id')
    .executeTakeFirst()
  if (row === undefined) throw conflict('The account already has a second factor.', 'Remove it first.')
  const app = totp(secret, username)
  return { secret: app.secret.base32, uri: app.toString() }
}

/**
 * Enables the factor whose app shows `code`; returns the recovery codes, which are never shown again. The session counts
 * as confirmed. Throws `forbidden`, `second_factor_invalid`, `second_factor_conflict`, `rate_limited`.
 */
export async function enableSecondFactor(
  services: Services,
  caller: Actor,
  { code, ip }: { code: string; ip: string },
): Promise<string[]> {
  const { database, config } = services
  const actor = requireSession(caller)
  const { accountId, username } = actor
  await limitRate(database, `second-factor-setup:${accountId}`, { limit: 30, windowSeconds: 15 * 60 })
  const codes = await database.transaction(async (query) => {
    const row = await query
      .selectFrom('second_factors')
      .select('sealed_secret')
      .where('account_id', '=', accountId)
      .where('enabled_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined)
      throw conflict('No second factor is being set up.', 'Start with POST /v1/account/second-factor.')
    const secret = unseal(sealOf(config.secret, accountId), row.sealed_secret)
    const step = secret === undefined ? null : matchingStep(secret, code.replace(/\s/g, ''))
    if (step === null || !(await spendStep(query, accountId, step))) throw codeInvalid()
    await query
      .updateTable('second_factors')
      .set({ enabled_at: new Date() })
      .where('account_id', '=', accountId)
      .execute()
    await confirmSession(query, actor)
    await recordAudit(query, { actor, action: 'second-factor.enable', subject: `account:${username}`, ip })
    return makeRecoveryCodes(query, config.secret, accountId)
  })
  notify(services, accountId, 'A second factor was added to your AgentGym account', [
    'logging in now requires a code from your authenticator app.',
    'If this was not you, reset your password and ask the operator of the server to reset the second factor.',
  ])
  return codes
}

async function confirmSession(query: Transaction<Schema>, { sessionId }: Actor): Promise<void> {
  await query
    .updateTable('sessions')
    .set({ confirmed_at: new Date() })
    .where('id', '=', sessionId ?? '')
    .execute()
}

/** Ten new recovery codes; the old ones stop working. Throws `forbidden`, `second_factor_conflict`. */
export async function replaceRecoveryCodes(
  { database, config }: Services,
  caller: Actor,
  ip: string,
): Promise<string[]> {
  const actor = requireSession(caller)
  return database.transaction(async (query) => {
    await requireEnabled(query, actor.accountId)
    await recordAudit(query, { actor, action: 'recovery-code.replace', subject: `account:${actor.username}`, ip })
    return makeRecoveryCodes(query, config.secret, actor.accountId)
  })
}

/** Removes the caller's second factor. Throws `forbidden`, `second_factor_conflict`. */
export async function removeSecondFactor(services: Services, caller: Actor, ip: string): Promise<void> {
  const actor = requireSession(caller)
  await services.database.transaction(async (query) => {
    await requireEnabled(query, actor.accountId)
    await deleteSecondFactor(query, actor.accountId)
    await recordAudit(query, { actor, action: 'second-factor.remove', subject: `account:${actor.username}`, ip })
  })
  notify(services, actor.accountId, 'The second factor of your AgentGym account was removed', [
    'logging in no longer requires a code from your authenticator app.',
    'If this was not you, reset your password at once.',
  ])
}

type Reset = { username: string; ip: string | null }

/**
 * Removes a user's second factor for an operator who has verified the user's identity. Sessions end; the password and
 * tokens remain valid. Throws `account_not_found`.
 */
export async function resetSecondFactor(
  database: Database,
  actor: Actor | null,
  { username, ip }: Reset,
): Promise<{ id: string }> {
  return database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await deleteSecondFactor(query, account.id)
    // No cookie is written, so the cookie options do not matter.
    await luciaSessions(query, { secure: true }).endAllOf(account.id)
    await recordAudit(query, { actor, action: 'second-factor.reset', subject: `account:${account.username}`, ip })
    return account
  })
}

/** Notifies the user of the change by mail. */
export function notify(services: Services, accountId: string, subject: string, paragraphs: string[]): void {
  const { database, mail, log } = services
  inBackground(log, 'sending a notice about a second factor', async () => {
    const account = await findAccountById(database.query, accountId)
    if (account === undefined || account.email === null) return
    await sendLetter(mail, { to: { username: account.username, email: account.email }, subject, paragraphs })
  })
}

/** Locks the account's factor. Throws `second_factor_conflict` without one. */
export async function requireEnabled(query: Transaction<Schema>, accountId: string): Promise<void> {
  const row = await query
    .selectFrom('second_factors')
    .select('account_id')
    .where('account_id', '=', accountId)
    .where('enabled_at', 'is not', null)
    .forUpdate()
    .executeTakeFirst()
  if (row === undefined) throw conflict('The account has no second factor.', 'Set one up first.')
}

function conflict(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'second_factor_conflict', message, hint })
}
