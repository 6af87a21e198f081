import { AgentGymError } from '@agentgym/contract'
import { hash, verify } from '@node-rs/argon2'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import { limitRate, rateLimited } from '../../core/access/rate-limit.ts'
import type { Schema } from '../../core/database/schema.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'
import { type Account, findAccountById, findAccountToLogIn, updateAccount } from './accounts.store.ts'
import { withdrawApprovals } from './device-log-in.ts'
import { deviceCookie, limitLogIn } from './log-in-limits.ts'
import { dropEmailChange, useMailToken, voidMailTokens } from './mail-tokens.store.ts'
import { unlinkAll } from './oauth-log-in.ts'
import { hasSecondFactor, useCode } from './second-factor.ts'
import { luciaSessions } from './sessions.ts'
import { startSession } from './start-session.ts'
import { revokeAllTokens } from './tokens.store.ts'

type LogIn = {
  /** Username or email address. */
  username: string
  password: string
  /** Second-factor code. */
  code?: string | undefined
  ip: string
  /** Contains the browser's current session, which ends, and the device ID. */
  cookieHeader: string
}

/**
 * Logs a user in by password; `cookies` are the Set-Cookie headers of a session under a new ID, and of the device.
 * Unknown users, wrong passwords, accounts without a password and disabled accounts get the same `credentials_invalid`
 * after the same work. Throws `rate_limited` before any of it, for existing and unknown names alike. Accounts with a
 * second factor need a `code`: a wrong one throws `second_factor_invalid`; without one, the session only permits
 * entering it (`awaitsCode`).
 */
export async function logIn(
  services: Services,
  request: LogIn,
): Promise<{ account: Account; cookies: string[]; awaitsCode: boolean }> {
  const { database, config } = services
  const account = await findAccountToLogIn(database.query, request.username)
  const refund = await limitLogIn(services, { ...request, accountId: account?.id })
  const matches = await verifyPassword(account?.password_hash ?? null, request.password)
  if (account === undefined || !matches || account.disabled_at !== null) {
    await recordAudit(database.query, {
      actor: null,
      action: 'session.refuse',
      // Not the typed name, because people type passwords into the wrong field.
      subject: `account:${account?.username ?? 'unknown'}`,
      ip: request.ip,
    })
    throw new AgentGymError({
      code: 'credentials_invalid',
      message: 'The username or password is wrong.',
      hint: 'If you forgot your password, reset it by email.',
    })
  }

  await refund()
  const { id: accountId, username } = account
  const { code, ip, cookieHeader } = request
  const confirmed = code !== undefined && (await hasSecondFactor(database.query, accountId))
  if (confirmed) await useCode(services, { accountId, username, code, ip })
  const { cookie, awaitsCode } = await database.transaction((query) =>
    startSession(query, config, account, { ip, cookieHeader, confirmed }),
  )
  return { account, cookies: [cookie, deviceCookie(cookieHeader, accountId, config)], awaitsCode }
}

/** OWASP's first choice for Argon2id, the library's default variant: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const maxPasswordLength = 200

/**
 * Hash of a random, unknown password. An unknown user's password is compared with it, so that both cases take as long.
 */
const dummyHash = '$argon2id$v=19$m=19456,t=2,p=1$0wiPlofgPCQoV0BTgTPBXA$ravyiAIk9y4mmF9Lq7B7UqQWyvhvJWg/KjxOjK/1Hwg'

/** Each hash takes 19 MiB and a core: this many run at once, as many more wait, the rest are refused. */
const running = 2
const waitingMost = 64
let free = running
const waiting: (() => void)[] = []

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFKC'), cost))
}

/**
 * Whether this is the password. `null` for an account that does not exist or has no password: false, after the same
 * work.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const possible = stored !== null && password.length <= maxPasswordLength
  const matches = await inTurn(() =>
    verify(possible ? stored : dummyHash, password.slice(0, maxPasswordLength).normalize('NFKC')),
  )
  return possible && matches
}

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (free === 0) {
    if (waiting.length >= waitingMost) throw rateLimited(1)
    // A finished task passes its slot to the next, so `free` does not change.
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else free -= 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
}

const guesses = { limit: 10, windowSeconds: 15 * 60 }

/**
 * Changes a known password. Ends every session; a caller with a session gets the cookie of a new one. Tokens stay valid
 * unless `revoke_tokens` is set. Throws `credentials_invalid`, `rate_limited`.
 */
export async function changePassword(
  services: Services,
  actor: Actor,
  change: { current_password: string; password: string; revoke_tokens?: boolean | undefined; ip: string },
): Promise<{ cookie: string | null }> {
  const { database, config } = services
  const account = await findAccountById(database.query, actor.accountId)
  if (!(await verifyPassword(account?.password_hash ?? null, change.current_password)))
    throw new AgentGymError({ code: 'credentials_invalid', message: 'The current password is wrong.' })
  const passwordHash = await hashPassword(change.password)
  return database.transaction(async (query) => {
    await replacePassword(query, actor.accountId, passwordHash, config.secure)
    const tokens = change.revoke_tokens === true
    if (tokens) await revokeAllTokens(query, actor.accountId)
    const subject = `account:${actor.username}`
    await recordAudit(query, { actor, action: 'password.change', subject, ip: change.ip, data: { tokens } })
    return actor.tokenId === null ? luciaSessions(query, config).create(actor.accountId) : { cookie: null }
  })
}

type NewPassword = { token: string; password: string; revokeTokens?: boolean | undefined; ip: string }

/**
 * Sets a password by a mailed link, which also proves the address. If the address was unconfirmed, another person may
 * have created the account, so tokens and linked providers are removed along with the sessions. Throws `link_invalid`,
 * `rate_limited`.
 */
export async function resetPassword(
  services: Services,
  { token, password, revokeTokens = false, ip }: NewPassword,
): Promise<void> {
  const { database, config } = services
  await limitRate(database, `reset-password:${clientNetwork(ip)}`, guesses)
  const passwordHash = await hashPassword(password)
  await database.transaction(async (query) => {
    const { accountId, email } = await useMailToken(query, 'reset', token)
    const account = await findAccountById(query, accountId)
    // The address now belongs to another account.
    if (account === undefined || account.email !== email || account.disabled_at !== null)
      throw new AgentGymError({ code: 'link_invalid', message: 'This link is for an email address that has changed.' })
    if (revokeTokens || account.email_verified_at === null) await revokeAllTokens(query, accountId)
    if (account.email_verified_at === null) {
      await unlinkAll(query, accountId)
      await updateAccount(query, accountId, { email_verified_at: new Date() })
    }
    await replacePassword(query, accountId, passwordHash, config.secure)
    const actor = { accountId, tokenId: null }
    await recordAudit(query, { actor, action: 'password.reset', subject: `account:${account.username}`, ip })
  })
}

/** Changing a password ends everything obtained by the old one, except tokens. */
async function replacePassword(
  query: Transaction<Schema>,
  accountId: string,
  passwordHash: string,
  secure: boolean,
): Promise<void> {
  await updateAccount(query, accountId, { password_hash: passwordHash })
  await luciaSessions(query, { secure }).endAllOf(accountId)
  await voidMailTokens(query, 'reset', accountId)
  await dropEmailChange(query, accountId)
  await withdrawApprovals(query, accountId)
}
