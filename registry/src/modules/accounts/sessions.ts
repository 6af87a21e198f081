import { type Adapter, type DatabaseSession, type DatabaseUser, Lucia, TimeSpan } from 'lucia'
import { secondFactorMinutes } from '../../core/access/authorize.ts'
import { hashSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'

type UserAttributes = {
  username: string
  emailVerified: boolean
  operator: boolean
  disabled: boolean
  /** Whether this session has confirmed the second factor recently; null if the account has none. */
  factorConfirmed: boolean | null
}

/** `awaitsCode`: the session permits nothing until the second-factor code is entered. */
type SessionState = { confirmed: boolean; awaitsCode: boolean }

declare module 'lucia' {
  interface Register {
    Lucia: Lucia<Record<never, never>, UserAttributes>
    DatabaseUserAttributes: UserAttributes
    DatabaseSessionAttributes: Partial<SessionState>
  }
}

export type SessionUser = UserAttributes & { id: string }

/** Sessions of browsers. Every `cookie` is the value of a Set-Cookie header. */
export type Sessions = {
  /** Starts a session under a new ID. The ID that the browser sent is never reused: an attacker may have planted it. */
  create(userId: string, state?: SessionState): Promise<{ cookie: string }>
  /**
   * The session in the Cookie header with its user and stored ID, or null. `cookie` is set if the expiry was extended.
   */
  read(cookieHeader: string): Promise<{ user: SessionUser; sessionId: string; cookie: string | null } | null>
  /** The same, including sessions that await the second-factor code. */
  find(cookieHeader: string): Promise<{ userId: string; sessionId: string; awaitsCode: boolean } | null>
  /** Whether a Cookie header may contain a session. */
  names(cookieHeader: string): boolean
  /** Ends the session in the Cookie header; `cookie` clears it. */
  end(cookieHeader: string): Promise<{ cookie: string }>
  endAllOf(userId: string): Promise<void>
  /** A user's active sessions, newest first; `current` is the one in the Cookie header. */
  list(userId: string, cookieHeader: string): Promise<ListedSession[]>
  /** Ends the session with that listed ID; false if there is none. */
  endListed(userId: string, id: string): Promise<boolean>
  deleteExpired(): Promise<void>
}

export type ListedSession = { id: string; current: boolean; createdAt: Date; expiresAt: Date }

/**
 * The only code that uses lucia. Version 3 stores session IDs in plain text; this adapter stores their SHA-256, so that
 * reading the database does not give access to accounts. A session lasts 30 days and is extended after half of that
 * time.
 */
export function luciaSessions(query: Queries, { secure }: { secure: boolean }): Sessions {
  // Browsers accept a cookie with this prefix only over TLS, for this exact host and for all paths.
  const name = secure ? '__Host-agentgym_session' : 'agentgym_session'
  const lucia = new Lucia(sessionAdapter(query), {
    sessionExpiresIn: new TimeSpan(30, 'd'),
    sessionCookie: {
      name,
      attributes: { secure, sameSite: 'lax', path: '/' },
    },
    getUserAttributes: (attributes) => attributes,
  })
  return {
    create: async (userId, state = { confirmed: false, awaitsCode: false }) => {
      const session = await lucia.createSession(userId, state)
      return { cookie: lucia.createSessionCookie(session.id).serialize() }
    },
    read: async (cookieHeader) => {
      const id = sessionIdIn(cookieHeader, name)
      if (id === null) return null
      const { session, user } = await lucia.validateSession(id)
      if (session === null) return null
      return {
        user,
        sessionId: hashSecret(id),
        cookie: session.fresh ? lucia.createSessionCookie(session.id).serialize() : null,
      }
    },
    find: async (cookieHeader) => {
      const id = sessionIdIn(cookieHeader, name)
      if (id === null) return null
      const row = await query
        .selectFrom('sessions')
        .select(['user_id', 'awaits_code'])
        .where('id', '=', hashSecret(id))
        .where('expires_at', '>', new Date())
        .executeTakeFirst()
      return row === undefined ? null : { userId: row.user_id, sessionId: hashSecret(id), awaitsCode: row.awaits_code }
    },
    names: (cookieHeader) => sessionIdIn(cookieHeader, name) !== null,
    end: async (cookieHeader) => {
      const id = sessionIdIn(cookieHeader, name)
      if (id !== null) await lucia.invalidateSession(id)
      return { cookie: lucia.createBlankSessionCookie().serialize() }
    },
    endAllOf: (userId) => lucia.invalidateUserSessions(userId),
    list: async (userId, cookieHeader) => {
      const id = sessionIdIn(cookieHeader, name)
      const own = id === null ? null : hashSecret(id)
      const rows = await sessionsOf(query, userId)
      return rows.map((row) => ({
        id: listedId(row.id),
        current: row.id === own,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
      }))
    },
    endListed: async (userId, id) => {
      const rows = await sessionsOf(query, userId)
      const row = rows.find((one) => listedId(one.id) === id)
      if (row === undefined) return false
      const { numDeletedRows } = await query.deleteFrom('sessions').where('id', '=', row.id).executeTakeFirst()
      return numDeletedRows > 0n
    },
    deleteExpired: () => lucia.deleteExpiredSessions(),
  }
}

function sessionsOf(query: Queries, userId: string) {
  return query
    .selectFrom('sessions')
    .select(['id', 'created_at', 'expires_at'])
    .where('user_id', '=', userId)
    .where('awaits_code', '=', false)
    .where('expires_at', '>', new Date())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** The API never returns the stored ID, although it is only a hash. */
function listedId(storedId: string): string {
  return hashSecret(`listed ${storedId}`).slice(0, 32)
}

/** Lucia's own parser throws on any badly encoded cookie, even an unrelated one. */
function sessionIdIn(cookieHeader: string, name: string): string | null {
  for (const cookie of cookieHeader.split(';')) {
    const [key, value = ''] = cookie.trim().split('=')
    if (key === name && /^[a-z2-7]{40}$/.test(value)) return value
  }
  return null
}

/** Time to enter the code after the password. */
const awaitMs = 10 * 60_000

function sessionAdapter(query: Queries): Adapter {
  return {
    getSessionAndUser: async (sessionId) => sessionAndUser(query, sessionId),
    getUserSessions: async (userId) => {
      const rows = await query.selectFrom('sessions').selectAll().where('user_id', '=', userId).execute()
      return rows.map((row) => ({ id: row.id, userId, expiresAt: row.expires_at, attributes: {} }))
    },
    setSession: async (session) => {
      const { confirmed = false, awaitsCode = false } = session.attributes
      await query
        .insertInto('sessions')
        .values({
          ...{ id: hashSecret(session.id), user_id: session.userId, awaits_code: awaitsCode },
          expires_at: awaitsCode ? new Date(Date.now() + awaitMs) : session.expiresAt,
          confirmed_at: confirmed ? new Date() : null,
        })
        .execute()
    },
    updateSessionExpiration: async (sessionId, expiresAt) => {
      await query
        .updateTable('sessions')
        .set({ expires_at: expiresAt })
        .where('id', '=', hashSecret(sessionId))
        .execute()
    },
    deleteSession: async (sessionId) => {
      await query.deleteFrom('sessions').where('id', '=', hashSecret(sessionId)).execute()
    },
    deleteUserSessions: async (userId) => {
      await query.deleteFrom('sessions').where('user_id', '=', userId).execute()
    },
    deleteExpiredSessions: async () => {
      await query.deleteFrom('sessions').where('expires_at', '<=', new Date()).execute()
    },
  }
}

async function sessionAndUser(
  query: Queries,
  sessionId: string,
): Promise<[DatabaseSession, DatabaseUser] | [null, null]> {
  const row = await query
    .selectFrom('sessions')
    .innerJoin('accounts', 'accounts.id', 'sessions.user_id')
    .leftJoin('second_factors', (join) =>
      join.onRef('second_factors.account_id', '=', 'accounts.id').on('second_factors.enabled_at', 'is not', null),
    )
    .select(['sessions.user_id', 'sessions.expires_at', 'sessions.confirmed_at', 'second_factors.enabled_at'])
    .select(['accounts.username', 'accounts.email_verified_at', 'accounts.operator', 'accounts.disabled_at'])
    .where('sessions.id', '=', hashSecret(sessionId))
    .where('sessions.awaits_code', '=', false)
    .executeTakeFirst()
  if (row === undefined) return [null, null]
  const sinceMs = Date.now() - (row.confirmed_at?.getTime() ?? 0)
  const attributes = {
    username: row.username,
    emailVerified: row.email_verified_at !== null,
    operator: row.operator,
    disabled: row.disabled_at !== null,
    factorConfirmed: row.enabled_at === null ? null : sinceMs < secondFactorMinutes * 60_000,
  }
  return [
    { id: sessionId, userId: row.user_id, expiresAt: row.expires_at, attributes: {} },
    { id: row.user_id, attributes },
  ]
}
