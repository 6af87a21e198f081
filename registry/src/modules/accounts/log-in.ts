import { AgentGymError } from '@agentgym/contract'
import { recordAudit } from '../../core/access/audit.ts'
import { limitRate, type RateLimit, refundRate } from '../../core/access/rate-limit.ts'
import { clientNetwork } from '../../core/http/client-address.ts'
import type { Services } from '../../core/services.ts'
import { findableUsername } from './account-name.ts'
import { type Account, findAccount } from './accounts.store.ts'
import { luciaSessions } from './lucia-sessions.ts'
import { verifyPassword } from './password.ts'

const window = { windowSeconds: 15 * 60 }
/** Failures. Per network, so that nobody can lock another out of their account from afar with a handful of guesses. */
const perAccountAndNetwork: RateLimit = { limit: 10, ...window }
const perAccount: RateLimit = { limit: 100, ...window }
const perNetwork: RateLimit = { limit: 60, ...window }

export type LogIn = {
  username: string
  password: string
  ip: string
  /** What the browser came with: that session ends. */
  cookieHeader: string
}

/**
 * Logs a user in by password; `cookie` is the Set-Cookie of a session under a new id. An unknown user, a wrong password,
 * an account without one and a disabled one get the same `credentials_invalid` after the same work. Throws
 * `rate_limited` before any of it, for names that exist and names that do not.
 */
export async function logIn(services: Services, request: LogIn): Promise<{ account: Account; cookie: string }> {
  const { database, config } = services
  const limits = limitsOf(request)
  for (const [key, limit] of limits) await limitRate(database, key, limit)

  const account = await findAccount(database.query, request.username)
  const matches = await verifyPassword(account?.password_hash ?? null, request.password)
  if (account === undefined || !matches || account.disabled_at !== null) {
    await recordAudit(database.query, {
      actor: null,
      action: 'session.refuse',
      // Not what was typed: people type passwords into the wrong field.
      subject: `account:${account?.username ?? 'unknown'}`,
      ip: request.ip,
    })
    throw new AgentGymError({
      code: 'credentials_invalid',
      message: 'The username or the password is wrong.',
      hint: 'Ask for a new password by mail if you have forgotten it.',
    })
  }

  // What succeeded was no guess.
  for (const [key, limit] of limits) await refundRate(database, key, limit)
  const cookie = await database.transaction(async (query) => {
    const sessions = luciaSessions(query, config)
    await sessions.end(request.cookieHeader)
    const session = await sessions.create(account.id)
    const actor = { accountId: account.id, tokenId: null }
    await recordAudit(query, {
      actor,
      action: 'session.create',
      subject: `account:${account.username}`,
      ip: request.ip,
    })
    return session.cookie
  })
  return { account, cookie }
}

function limitsOf({ username, ip }: LogIn): [key: string, limit: RateLimit][] {
  // What nobody can be called has one count: it never succeeds, and may hold what no database takes.
  const name = findableUsername(username) ?? '?'
  const network = clientNetwork(ip)
  return [
    [`log-in:${network}`, perNetwork],
    [`log-in:${name}:${network}`, perAccountAndNetwork],
    [`log-in:${name}`, perAccount],
  ]
}
