import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { checkUsername } from './account-name.ts'
import {
  type Account,
  findAccountByEmail,
  findAccountById,
  insertAccount,
  isFirstAccount,
  updateAccount,
} from './accounts.store.ts'
import { luciaSessions } from './lucia-sessions.ts'
import { findLinkedAccount, linkIdentity, type ProviderName } from './oauth-identities.store.ts'
import type { Identity } from './oauth-providers.ts'

/**
 * Logs in whoever another provider vouches for; `cookie` is a new session's. An identity belongs to the account that it
 * was linked to. One seen for the first time is linked to the account with the same address if both sides have verified
 * it, and gets an account of its own otherwise. Throws `oauth_failed`.
 */
export async function logInByOauth(
  { database, config }: Services,
  provider: ProviderName,
  identity: Identity,
  { ip, cookieHeader }: { ip: string; cookieHeader: string },
): Promise<{ account: Account; cookie: string }> {
  return database.transaction(async (query) => {
    // The same identity twice at once, in two tabs, makes one account.
    await database.lock(query, `oauth:${provider}:${identity.subject}`)
    const linked = await findLinkedAccount(query, provider, identity.subject)
    const account =
      linked === undefined
        ? await linkOrSignUp(query, provider, identity, ip, () => firstIsOperator(query))
        : await findAccountById(query, linked)
    if (account === undefined || account.disabled_at !== null)
      throw new AgentGymError({ code: 'oauth_failed', message: 'The account of this identity is disabled.' })
    const sessions = luciaSessions(query, config)
    await sessions.end(cookieHeader)
    const { cookie } = await sessions.create(account.id)
    await audit(query, account, 'session.create', ip, provider)
    return { account, cookie }
  })

  function firstIsOperator(query: Transaction<Schema>): Promise<boolean> {
    return config.operator === undefined ? isFirstAccount(database, query) : Promise.resolve(false)
  }
}

async function linkOrSignUp(
  query: Transaction<Schema>,
  provider: ProviderName,
  { subject, login, email }: Identity,
  ip: string,
  isOperator: () => Promise<boolean>,
): Promise<Account> {
  if (email === null)
    throw new AgentGymError({
      code: 'oauth_failed',
      message: 'The provider has no verified e-mail address of yours.',
      hint: 'Verify your address there, then log in again.',
    })
  const holder = await findAccountByEmail(query, email)
  if (holder !== undefined && holder.email_verified_at !== null) {
    await linkIdentity(query, { provider, subject, accountId: holder.id })
    await audit(query, holder, 'oauth.link', ip, provider)
    return holder
  }
  if (holder !== undefined) {
    // Somebody signed up with an address that they never confirmed: no claim against its owner, and no way into an
    // account that somebody else knows the password of.
    await updateAccount(query, holder.id, { email: null })
    await audit(query, holder, 'email.withdraw', ip, provider)
  }
  const account = await signUpAs(query, login, { email, operator: await isOperator() })
  await linkIdentity(query, { provider, subject, accountId: account.id })
  await audit(query, account, 'account.create', ip, provider)
  return account
}

/** Under the name that they have there, or the first free one that is made of it. */
async function signUpAs(
  query: Transaction<Schema>,
  login: string,
  { email, operator }: { email: string; operator: boolean },
): Promise<Account> {
  for (const username of usernamesFrom(login)) {
    try {
      checkUsername(username, { operator })
      return await insertAccount(query, { kind: 'user', username, email, emailVerified: true, operator })
    } catch (error) {
      if (!(error instanceof AgentGymError) || !['name_taken', 'name_invalid'].includes(error.code)) throw error
    }
  }
  throw new AgentGymError({
    code: 'oauth_failed',
    message: 'No free username was found for you.',
    hint: 'Sign up first.',
  })
}

export function usernamesFrom(login: string): string[] {
  const plain = login
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32)
    .replace(/-+$/, '')
  const base = plain === '' ? 'user' : plain
  return [base, ...Array.from({ length: 98 }, (_, index) => `${base}-${index + 2}`)]
}

async function audit(
  query: Transaction<Schema>,
  account: Account,
  action: string,
  ip: string,
  provider: ProviderName,
): Promise<void> {
  const actor = action === 'email.withdraw' ? null : { accountId: account.id, tokenId: null }
  await recordAudit(query, { actor, action, subject: `account:${account.username}`, ip, data: { provider } })
}
