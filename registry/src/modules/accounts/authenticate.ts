import type { MiddlewareHandler } from 'hono'
import { type Actor, scopes as allScopes, type Scope, unauthenticated } from '../../core/access/authorize.ts'
import { hashSecret, isSecret } from '../../core/access/secret.ts'
import type { Env } from '../../core/http/env.ts'
import { refuseCrossSiteWrite } from '../../core/http/request-limits.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { luciaSessions } from './sessions.ts'
import { findToken, touchToken } from './tokens.store.ts'

const nobody = '00000000-0000-0000-0000-000000000000'

/** The built-in worker of a server. It has no account and can only access jobs. */
const embeddedWorker: Actor = {
  accountId: nobody,
  username: '(embedded worker)',
  emailVerified: false,
  operator: true,
  // Not null, because it is not a session.
  tokenId: nobody,
  scopes: new Set<Scope>(['worker']),
}

/**
 * Identifies the caller by `Authorization: Bearer agt_…`, or else by the session cookie. Sets `actor`; null if
 * anonymous. An invalid token is an error (`unauthenticated`) even on public routes: an anonymous answer would hide the
 * cause. An invalid cookie counts as anonymous.
 */
export function authenticate({ database, config }: Services): MiddlewareHandler<Env> {
  const sessions = luciaSessions(database.query, config)
  return async (c, next) => {
    c.set('actor', null)
    const authorization = c.req.header('authorization')
    if (authorization !== undefined) {
      c.set('actor', await actorOfToken(database.query, authorization, config))
      return next()
    }
    if (c.get('rules').csrf === 'token') return next()
    const cookieHeader = c.req.header('cookie') ?? ''
    const request = { method: c.req.method, header: (name: string) => c.req.header(name) }
    const form = c.get('rules').csrf === 'form'
    refuseCrossSiteWrite(request, config.publicUrl, { cookie: sessions.names(cookieHeader), form })
    const session = sessions.names(cookieHeader) ? await sessions.read(cookieHeader) : null
    if (session === null || session.user.disabled) return next()
    const { id, username, emailVerified } = session.user
    const { operator, factorConfirmed } = session.user
    const scopes = holdable(allScopes, { operator })
    const { sessionId } = session
    const unconfirmed = isUnconfirmed(config, session.user)
    const account = { accountId: id, username, emailVerified, unconfirmed, operator }
    const factor = factorConfirmed === null ? {} : { factorConfirmed }
    c.set('actor', { ...account, ...factor, tokenId: null, sessionId, scopes })
    await next()
    if (session.cookie !== null) c.header('set-cookie', session.cookie, { append: true })
  }
}

async function actorOfToken(
  query: Services['database']['query'],
  authorization: string,
  config: ServerConfig,
): Promise<Actor> {
  const [scheme, secret = ''] = authorization.split(' ')
  if (scheme.toLowerCase() !== 'bearer')
    throw unauthenticated(`Send the token as "Authorization: Bearer", not "${scheme.slice(0, 20)}".`)
  const { embeddedWorkerToken } = config
  if (embeddedWorkerToken !== undefined && hashSecret(secret) === hashSecret(embeddedWorkerToken)) return embeddedWorker
  const token = isSecret('agt_', secret) ? await findToken(query, secret) : undefined
  if (token === undefined) throw unauthenticated('The token is unknown.')
  if (token.revoked_at !== null) throw unauthenticated('The token was revoked.')
  if (token.expires_at !== null && token.expires_at.getTime() <= Date.now())
    throw unauthenticated(`The token expired on ${token.expires_at.toISOString().slice(0, 10)}.`)
  if (token.disabled_at !== null) throw unauthenticated('The account of the token is disabled.')
  await touchToken(query, token)
  const { operator } = token
  const emailVerified = token.email_verified_at !== null
  return {
    accountId: token.account_id,
    username: token.username,
    emailVerified,
    unconfirmed: isUnconfirmed(config, { emailVerified, operator }),
    operator,
    tokenId: token.id,
    scopes: holdable(token.scopes, { operator }),
    ...(token.enabled_at === null ? {} : { factorConfirmed: token.confirmed }),
    ...(token.worker === null ? {} : { worker: token.worker }),
  }
}

/** Prevents one person from using many accounts. Operators are exempt, in case the mail server is down. */
function isUnconfirmed(
  { confirmedEmail }: ServerConfig,
  { emailVerified, operator }: { emailVerified: boolean; operator: boolean },
): boolean {
  return confirmedEmail && !emailVerified && !operator
}

const impliesView: readonly Scope[] = ['training:start', 'training:cancel', 'training:evaluate', 'data:export']

/**
 * The permissions of these scopes: managing packages includes publishing, which includes reading; every scope on runs
 * includes viewing them. The worker scope is for operators only and ends when they are demoted.
 */
function holdable(granted: readonly Scope[], { operator }: { operator: boolean }): ReadonlySet<Scope> {
  const all = new Set(granted)
  if (all.has('packages:manage')) all.add('packages:publish')
  if (all.has('packages:publish')) all.add('packages:read')
  if (impliesView.some((scope) => all.has(scope))) all.add('training:view')
  if (!operator) all.delete('worker')
  return all
}
