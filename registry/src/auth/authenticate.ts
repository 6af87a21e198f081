import type { MiddlewareHandler } from 'hono'
import type { Env } from '../server/env.ts'
import type { ServerConfig, Services } from '../server/services.ts'
import { type Actor, type Scope, scopes } from './actor.ts'
import { unauthenticated } from './authorise.ts'
import { refuseCrossSiteWrite } from './cross-site.ts'
import { luciaSessions } from './lucia-sessions.ts'
import { hashSecret, isSecret } from './secret.ts'
import { findToken, touchToken } from './tokens.store.ts'

/** The worker that a server runs beside itself: no account stands behind it, and jobs are all that it may touch. */
const embeddedWorker: Actor = {
  accountId: '00000000-0000-0000-0000-000000000000',
  username: '(embedded worker)',
  emailVerified: false,
  operator: true,
  tokenId: null,
  scopes: new Set<Scope>(['worker']),
}

const allScopes: ReadonlySet<Scope> = new Set(scopes)

/**
 * Finds out who makes a request: `Authorization: Bearer agt_…`, or else the session cookie. Sets `actor`, null for
 * nobody. A token that does not hold is an error (`unauthenticated`), also where nobody needs to be known: silently
 * answering as to a stranger would hide why. A cookie that does not hold is nobody.
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
    const cookieHeader = c.req.header('cookie') ?? ''
    const request = { method: c.req.method, path: c.req.path, header: (name: string) => c.req.header(name) }
    refuseCrossSiteWrite(request, config.publicUrl, { cookie: sessions.names(cookieHeader) })
    const session = sessions.names(cookieHeader) ? await sessions.read(cookieHeader) : null
    if (session === null || session.user.disabled) return next()
    const { id, username, emailVerified, operator } = session.user
    c.set('actor', {
      accountId: id,
      username,
      emailVerified,
      operator: operator || isOperatorByConfig(config, username),
      tokenId: null,
      scopes: allScopes,
    })
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
    throw unauthenticated(`The server takes "Authorization: Bearer" with a token, not "${scheme.slice(0, 20)}".`)
  const { embeddedWorkerToken } = config
  if (embeddedWorkerToken !== undefined && hashSecret(secret) === hashSecret(embeddedWorkerToken)) return embeddedWorker
  const token = isSecret('agt_', secret) ? await findToken(query, secret) : undefined
  if (token === undefined) throw unauthenticated('The token is unknown.')
  if (token.revoked_at !== null) throw unauthenticated('The token was revoked.')
  if (token.expires_at !== null && token.expires_at.getTime() <= Date.now())
    throw unauthenticated(`The token expired on ${token.expires_at.toISOString().slice(0, 10)}.`)
  if (token.disabled_at !== null) throw unauthenticated('The account of the token is disabled.')
  await touchToken(query, token)
  const operator = token.operator || isOperatorByConfig(config, token.username)
  return {
    accountId: token.account_id,
    username: token.username,
    emailVerified: token.email_verified_at !== null,
    operator,
    tokenId: token.id,
    // Who is no longer an operator leaves no worker behind.
    scopes: withImplied(operator ? token.scopes : token.scopes.filter((scope) => scope !== 'worker')),
  }
}

function isOperatorByConfig({ operator }: ServerConfig, username: string): boolean {
  return operator !== undefined && operator === username
}

/** Who may manage packages may publish them, and who may publish may read. */
function withImplied(granted: readonly Scope[]): ReadonlySet<Scope> {
  const all = new Set(granted)
  if (all.has('packages:manage')) all.add('packages:publish')
  if (all.has('packages:publish')) all.add('packages:read')
  return all
}
