import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Actor } from '../../core/access/actor.ts'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'
import { findAccountById, updateAccount } from './accounts.store.ts'
import { withdrawApprovals } from './device-codes.store.ts'
import { luciaSessions } from './lucia-sessions.ts'
import { useMailToken, voidMailTokens } from './mail-tokens.store.ts'
import { unlinkAll } from './oauth-identities.store.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { revokeAllTokens } from './tokens.store.ts'

const guesses = { limit: 10, windowSeconds: 15 * 60 }

/**
 * Changes a password that is known. Every session ends; whoever came with one gets the cookie of a new one. Tokens stay:
 * each has its own secret.
 * Throws `credentials_invalid`, `rate_limited`.
 */
export async function changePassword(
  services: Services,
  actor: Actor,
  change: { current_password: string; password: string; ip: string },
): Promise<{ cookie: string | null }> {
  const { database, config } = services
  const account = await findAccountById(database.query, actor.accountId)
  if (!(await verifyPassword(account?.password_hash ?? null, change.current_password)))
    throw new AgentGymError({ code: 'credentials_invalid', message: 'The current password is wrong.' })
  const passwordHash = await hashPassword(change.password)
  return database.transaction(async (query) => {
    await replacePassword(query, actor.accountId, passwordHash, config.secure)
    const subject = `account:${actor.username}`
    await recordAudit(query, { actor, action: 'password.change', subject, ip: change.ip })
    return actor.tokenId === null ? luciaSessions(query, config).create(actor.accountId) : { cookie: null }
  })
}

/**
 * Sets a password by a mailed link, which proves the address as well. If it was not confirmed before, somebody else may
 * have opened the account in its owner's name: then tokens and links to other providers go with the sessions.
 * Throws `link_invalid`, `rate_limited`.
 */
export async function resetPassword(
  services: Services,
  { token, password, ip }: { token: string; password: string; ip: string },
): Promise<void> {
  const { database, config } = services
  await limitRate(database, `reset-password:${clientNetwork(ip)}`, guesses)
  const passwordHash = await hashPassword(password)
  await database.transaction(async (query) => {
    const { accountId, email } = await useMailToken(query, 'reset', token)
    const account = await findAccountById(query, accountId)
    // The address has moved to somebody else since.
    if (account === undefined || account.email !== email || account.disabled_at !== null)
      throw new AgentGymError({ code: 'link_invalid', message: 'This link is for an address that has changed.' })
    if (account.email_verified_at === null) {
      await revokeAllTokens(query, accountId)
      await unlinkAll(query, accountId)
      await updateAccount(query, accountId, { email_verified_at: new Date() })
    }
    await replacePassword(query, accountId, passwordHash, config.secure)
    const actor = { accountId, tokenId: null }
    await recordAudit(query, { actor, action: 'password.reset', subject: `account:${account.username}`, ip })
  })
}

/** With a password goes everything that was got by the old one and is not a token. */
async function replacePassword(
  query: Transaction<Schema>,
  accountId: string,
  passwordHash: string,
  secure: boolean,
): Promise<void> {
  await updateAccount(query, accountId, { password_hash: passwordHash })
  await luciaSessions(query, { secure }).endAllOf(accountId)
  await voidMailTokens(query, 'reset', accountId)
  await withdrawApprovals(query, accountId)
}
