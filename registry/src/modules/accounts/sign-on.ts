import { AgentGymError, type AuditAction } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { putMember, roleIn } from '../../core/access/memberships.store.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { type Account, findAccountByEmail, findAccountById } from './accounts.store.ts'
import { signUpAs } from './oauth-log-in.ts'
import type { OpenIdUser } from './openid-client.ts'
import { ownsDomain, type SignOnProvider } from './sign-on-providers.ts'
import { type Started, startSession } from './start-session.ts'

type Request = { actor: Actor | null; ip: string; cookieHeader: string }

/**
 * Logs in a member of an organization by their identity at its provider; `cookie` is the new session's. The provider is
 * trusted only for addresses in the organization's verified domains. A new identity gets a new account and the
 * organization's default role. It is linked to an existing account with that address only if the browser is logged in
 * to it, so that an organization's owner cannot take over a personal account. Throws `oauth_failed`.
 */
export async function logInBySignOn(
  { database, config }: Services,
  provider: SignOnProvider,
  user: OpenIdUser,
  { actor, ip, cookieHeader }: Request,
): Promise<Started> {
  const { organizationId, issuer } = provider
  return database.transaction(async (query) => {
    // Two concurrent logins with one identity create one account.
    await database.lock(query, `sign-on:${organizationId}:${issuer}:${user.subject}`)
    if (user.email === null || !(await ownsDomain(query, organizationId, user.email.split('@')[1] ?? '')))
      throw failed(
        `The provider returned ${user.email === null ? 'no verified email address' : user.email}, which is not in a verified domain of the organization.`,
        'Ask the owner of your organization to add the domain.',
      )
    const account = (await findLinked(query, provider, user)) ?? (await provision(query, provider, user, { actor, ip }))
    if (account.disabled_at !== null) throw failed('The account of this login is disabled.')
    return startSession(query, config, account, { ip, cookieHeader, data: { issuer } })
  })
}

async function findLinked(
  query: Transaction<Schema>,
  { organizationId, issuer }: SignOnProvider,
  { subject }: OpenIdUser,
): Promise<Account | undefined> {
  const row = await query
    .selectFrom('sign_on_identities')
    .select('account_id')
    .where('organisation_id', '=', organizationId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row && findAccountById(query, row.account_id)
}

/** Creates or links the account of a new identity, and its membership. */
async function provision(
  query: Transaction<Schema>,
  { organizationId, issuer, defaultRole }: SignOnProvider,
  { subject, email, login }: OpenIdUser,
  { actor, ip }: Pick<Request, 'actor' | 'ip'>,
): Promise<Account> {
  const holder = email === null ? undefined : await findAccountByEmail(query, email)
  if (holder !== undefined && holder.id !== actor?.accountId)
    throw failed(
      `${email} already has an account here, ${holder.username}.`,
      'Log in to it first, then start single sign-on again in the same browser: that links the two.',
    )
  const account = holder ?? (await signUpAs(query, login, { email: email ?? '', operator: false }))
  if (holder === undefined) await audit(query, account, 'account.create', ip, issuer)
  await query
    .insertInto('sign_on_identities')
    .values({ organisation_id: organizationId, issuer, subject, account_id: account.id })
    .execute()
  await audit(query, account, 'sign-on.link', ip, issuer)
  // Only at the first login, so that a removed member is not added again by logging in.
  if ((await roleIn(query, organizationId, account.id)) === null) {
    await putMember(query, organizationId, account.id, defaultRole)
    await recordAudit(query, {
      actor: { accountId: account.id, tokenId: null },
      ...{ action: 'member.put', subject: `account:${organizationId}`, ip },
      data: { member: account.username, role: defaultRole, before: null },
    })
  }
  return account
}

async function audit(
  query: Transaction<Schema>,
  { id, username }: Account,
  action: AuditAction,
  ip: string,
  issuer: string,
): Promise<void> {
  const actor = { accountId: id, tokenId: null }
  await recordAudit(query, { actor, action, subject: `account:${username}`, ip, data: { issuer } })
}

function failed(message: string, hint = 'Start the login again.'): AgentGymError {
  return new AgentGymError({ code: 'oauth_failed', message, hint })
}
