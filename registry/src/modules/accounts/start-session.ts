import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { type Account, findAccountById } from './accounts.store.ts'
import { codeRequired, hasSecondFactor, useCode } from './second-factor.ts'
import { luciaSessions } from './sessions.ts'

type Start = {
  ip: string
  /** The browser's current session, which ends. */
  cookieHeader: string
  /** Whether a second-factor code was accepted. */
  confirmed?: boolean
  /** For the audit log: how the user logged in. */
  data?: Record<string, unknown>
}

export type Started = {
  /** Set-Cookie. */
  cookie: string
  /** The account has a second factor: the session permits nothing until `enterCode` accepts a code. */
  awaitsCode: boolean
}

/** Starts the session of a user who has just authenticated by password or provider. */
export async function startSession(
  query: Transaction<Schema>,
  config: ServerConfig,
  { id, username }: { id: string; username: string },
  { ip, cookieHeader, confirmed = false, data }: Start,
): Promise<Started> {
  const awaitsCode = !confirmed && (await hasSecondFactor(query, id))
  const sessions = luciaSessions(query, config)
  await sessions.end(cookieHeader)
  const { cookie } = await sessions.create(id, { confirmed, awaitsCode })
  await recordAudit(query, {
    actor: { accountId: id, tokenId: null },
    ...{ action: awaitsCode ? 'session.await_code' : 'session.create', subject: `account:${username}`, ip },
    ...(data === undefined ? {} : { data }),
  })
  return { cookie, awaitsCode }
}

type Browser = {
  cookieHeader: string
  ip: string
  /** For the audit log: the method of confirmation. */
  by: 'code' | 'security_key'
}
/** The user of the session. */
export type Confirming = { account: Account; sessionId: string }

/**
 * Confirms the browser's session if `prove` does not throw: completes a login with a new session ID, or confirms an
 * active session. Undefined if there is no session. Throws `second_factor_required`, and the errors of `prove`.
 */
export async function confirmBrowser(
  { database, config }: Services,
  { cookieHeader, ip, by }: Browser,
  prove: (session: Confirming) => Promise<void>,
): Promise<{ username: string; cookie: string } | undefined> {
  const found = await luciaSessions(database.query, config).find(cookieHeader)
  const account = found === null ? undefined : await findAccountById(database.query, found.userId)
  if (found === null || account === undefined || account.disabled_at !== null) return undefined
  await prove({ account, sessionId: found.sessionId })
  return database.transaction(async (query) => {
    // The session may have ended meanwhile and must not be restored under a new ID.
    if ((await luciaSessions(query, config).find(cookieHeader)) === null) throw codeRequired()
    const data = { ...(found.awaitsCode ? { second_factor: true } : { confirm: true }), by }
    const { cookie } = await startSession(query, config, account, { ip, cookieHeader, confirmed: true, data })
    return { username: account.username, cookie }
  })
}

/**
 * Confirms the browser's session with a second-factor code, like `confirmBrowser`. Throws `second_factor_invalid`,
 * `second_factor_required`, `rate_limited`.
 */
export function enterCode(
  services: Services,
  { cookieHeader, code, ip }: { cookieHeader: string; code: string; ip: string },
): Promise<{ username: string; cookie: string } | undefined> {
  return confirmBrowser(services, { cookieHeader, ip, by: 'code' }, ({ account }) =>
    useCode(services, { accountId: account.id, username: account.username, code, ip }),
  )
}
