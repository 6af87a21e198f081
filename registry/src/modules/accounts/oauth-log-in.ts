import { AgentGymError, type AuditAction } from '@agentgym/contract'
import { decodeIdToken, GitHub, Google } from 'arctic'
import type { Transaction } from 'kysely'
import { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { checkUsername } from './account-name.ts'
import { type Account, findAccountByEmail, findAccountById, insertAccount, updateAccount } from './accounts.store.ts'
import { claimByFirstAccount } from './claim.ts'
import { type Started, startSession } from './start-session.ts'

/**
 * Logs in a user by their identity at another provider; `cookie` is the new session's. An identity belongs to the
 * account that it was linked to. A new identity is linked to the account with the same address if both sides have
 * verified it, and gets an account of its own otherwise. Throws `oauth_failed`.
 */
export async function logInByOauth(
  services: Services,
  provider: ProviderName,
  identity: Identity,
  { ip, cookieHeader, local }: { ip: string; cookieHeader: string; local: boolean },
): Promise<Started & { account: Account }> {
  const { database, config } = services
  return database.transaction(async (query) => {
    // Two concurrent logins with one identity create one account.
    await database.lock(query, `oauth:${provider}:${identity.subject}`)
    const linked = await findLinkedAccount(query, provider, identity.subject)
    const account =
      linked === undefined
        ? await linkOrSignUp(query, provider, identity, ip, () => claimByFirstAccount(services, query, { local }))
        : await findAccountById(query, linked)
    if (account === undefined || account.disabled_at !== null)
      throw new AgentGymError({ code: 'oauth_failed', message: 'The account of this login is disabled.' })
    return { account, ...(await startSession(query, config, account, { ip, cookieHeader, data: { provider } })) }
  })
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
      message: 'The provider returned no verified email address.',
      hint: 'Verify your address there, then log in again.',
    })
  const holder = await findAccountByEmail(query, email)
  if (holder !== undefined && holder.email_verified_at !== null) {
    await linkIdentity(query, { provider, subject, accountId: holder.id })
    await audit(query, holder, 'oauth.link', ip, provider)
    return holder
  }
  if (holder !== undefined) {
    // An account has this address but never confirmed it. It must not be linked, because the person who signed up knows
    // its password.
    await updateAccount(query, holder.id, { email: null })
    await audit(query, holder, 'email.withdraw', ip, provider)
  }
  const account = await signUpAs(query, login, { email, operator: await isOperator() })
  await linkIdentity(query, { provider, subject, accountId: account.id })
  await audit(query, account, 'account.create', ip, provider)
  return account
}

/** With the user's name at the provider, or the first free name derived from it. */
export async function signUpAs(
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
    message: 'No free username was found.',
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
  action: AuditAction,
  ip: string,
  provider: ProviderName,
): Promise<void> {
  const actor = action === 'email.withdraw' ? null : { accountId: account.id, tokenId: null }
  await recordAudit(query, { actor, action, subject: `account:${account.username}`, ip, data: { provider } })
}

export const providerNames = ['github', 'google'] as const
export type ProviderName = (typeof providerNames)[number]

/** The account that logs in through this identity. `subject` is the provider's own ID, never a name or an address. */
async function findLinkedAccount(query: Queries, provider: ProviderName, subject: string): Promise<string | undefined> {
  const row = await query
    .selectFrom('oauth_identities')
    .select('account_id')
    .where('provider', '=', provider)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.account_id
}

export async function linkIdentity(
  query: Queries,
  identity: { provider: ProviderName; subject: string; accountId: string },
): Promise<void> {
  await query
    .insertInto('oauth_identities')
    .values({ provider: identity.provider, subject: identity.subject, account_id: identity.accountId })
    .execute()
}

export async function unlinkAll(query: Queries, accountId: string): Promise<void> {
  await query.deleteFrom('oauth_identities').where('account_id', '=', accountId).execute()
}

/** A user's identity at another provider. */
export type Identity = {
  /** The provider's own ID, because names and addresses can be reassigned. */
  subject: string
  /** The basis for a username. */
  login: string
  /** Only if the provider has verified it. */
  email: string | null
}

export type OauthProvider = {
  authorisationUrl(request: { state: string; codeVerifier: string }): URL
  /** Exchanges a code for the user's identity; fails if the provider rejects the code. */
  identify(code: string, codeVerifier: string): Promise<Identity>
}

export type Providers = Partial<Record<ProviderName, OauthProvider>>

/** The providers with a configured client. */
export function oauthProviders(config: ServerConfig): Providers {
  const { github, google } = config.oauth
  const callback = (name: ProviderName) => `${config.publicUrl}/v1/oauth/${name}/callback`
  return {
    ...(github && { github: gitHub(new GitHub(github.clientId, github.clientSecret, callback('github'))) }),
    ...(google && { google: googleAccounts(new Google(google.clientId, google.clientSecret, callback('google'))) }),
  }
}

const gitHubUser = z.object({ id: z.int(), login: z.string() })
const gitHubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

function gitHub(client: GitHub): OauthProvider {
  return {
    // Protected by `state` only: this client does not support PKCE for GitHub.
    authorisationUrl: ({ state }) => client.createAuthorizationURL(state, ['user:email']),
    identify: async (code) => {
      const tokens = await client.validateAuthorizationCode(code)
      const user = gitHubUser.parse(await readGitHub('/user', tokens.accessToken()))
      const emails = gitHubEmails.parse(await readGitHub('/user/emails', tokens.accessToken()))
      const primary = emails.find((email) => email.primary && email.verified)
      return { subject: String(user.id), login: user.login, email: primary?.email ?? null }
    },
  }
}

async function readGitHub(path: string, accessToken: string): Promise<unknown> {
  const response = await fetch(`https://api.github.com${path}`, {
    headers: {
      authorization: `Bearer ${accessToken}`,
      accept: 'application/vnd.github+json',
      'user-agent': 'AgentGym',
    },
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`api.github.com${path} answered ${response.status}`)
  return response.json()
}

const googleClaims = z.object({ sub: z.string(), email: z.string().optional(), email_verified: z.boolean().optional() })

function googleAccounts(client: Google): OauthProvider {
  return {
    authorisationUrl: ({ state, codeVerifier }) =>
      client.createAuthorizationURL(state, codeVerifier, ['openid', 'email']),
    identify: async (code, codeVerifier) => {
      const tokens = await client.validateAuthorizationCode(code, codeVerifier)
      // Received directly from Google over TLS, so the signature need not be verified (OpenID Connect Core, 3.1.3.7).
      const claims = googleClaims.parse(decodeIdToken(tokens.idToken()))
      const email = claims.email_verified === true ? (claims.email ?? null) : null
      return { subject: claims.sub, login: email?.split('@')[0] ?? '', email }
    },
  }
}
