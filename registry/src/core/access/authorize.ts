import { AgentGymError, type TokenScope, tokenScopeSchema, type WorkKind } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { Role } from '../database/schema.ts'
import { roleIn } from './memberships.store.ts'

type AuthorizeOptions = {
  /** The scope that a token needs. A session has all of its user's permissions. */
  scope: Scope
  /**
   * Set to the package's name if its existence is private: unauthorized callers get `package_not_found`, as for a name
   * that does not exist.
   */
  hidden?: string
}

/** The lowest role that is sufficient. */
const roleFor: Record<Permission, Role> = { read: 'viewer', publish: 'member', manage: 'admin', own: 'owner' }
/** Roles by rank: a higher one includes the permissions of a lower one. */
export const rank: Record<Role, number> = { viewer: 1, member: 2, admin: 3, owner: 4 }

/**
 * The permission check that every route calls: whether `actor` may do this to a resource of account `ownerId`. Resolves
 * to the authenticated actor. Throws `unauthenticated`, `forbidden`, or `package_not_found` if `hidden`.
 *
 * Users own their resources; in organizations the role decides. Operators can't bypass the check. Pass the transaction
 * of the write: a removed membership then takes effect immediately, and a valid one cannot be removed before the write
 * commits.
 */
export async function authorize(
  query: Queries,
  actor: Actor | null,
  permission: Permission,
  ownerId: string,
  { scope, hidden }: AuthorizeOptions,
): Promise<Actor> {
  if (actor === null) throw hidden === undefined ? unauthenticated() : packageNotFound(hidden)
  const hold = permission !== 'read'
  const role = actor.accountId === ownerId ? 'owner' : await roleIn(query, ownerId, actor.accountId, { hold })
  if (hidden !== undefined && (role === null || !actor.scopes.has('packages:read'))) throw packageNotFound(hidden)
  requireScope(actor, scope)
  if (role === null || rank[role] < rank[roleFor[permission]])
    throw new AgentGymError({
      code: 'forbidden',
      message:
        role === null
          ? `${actor.username} is not a member of the account that owns this resource.`
          : `${actor.username} has the role ${role}; this requires the role ${roleFor[permission]}.`,
      data: { needs_role: roleFor[permission], role },
    })
  return actor
}

/** For the actor's own resources: requires an authenticated actor with that scope. */
export function requireActor(actor: Actor | null, scope: Scope): Actor {
  if (actor === null) throw unauthenticated()
  requireScope(actor, scope)
  return actor
}

/** For operators of this installation only. */
export function requireOperator(actor: Actor | null, scope: Scope): Actor {
  const known = requireActor(actor, scope)
  if (!known.operator)
    throw new AgentGymError({ code: 'forbidden', message: 'Only operators of this server can do this.' })
  return known
}

/** For actions that no token may perform, whatever its scopes: requires a session. */
export function requireSession(actor: Actor): Actor {
  if (actor.tokenId === null) return actor
  throw new AgentGymError({
    code: 'forbidden',
    message: 'This needs a session; a token is not enough.',
    hint: 'Log in on the site, or with your password.',
  })
}

/** How long a session stays confirmed after a second-factor code. */
export const secondFactorMinutes = 30

/**
 * For payouts, prices and operator actions: if the account has a second factor, the session must have confirmed it
 * recently, or the token must have been created by such a session. Throws `second_factor_required`.
 */
export function requireSecondFactor(actor: Actor | null): void {
  if (actor?.factorConfirmed !== false) return
  throw new AgentGymError({
    code: 'second_factor_required',
    message:
      actor.tokenId === null
        ? 'This requires you to confirm your second factor.'
        : 'The token was created without confirming the account’s current second factor.',
    hint:
      actor.tokenId === null
        ? 'Confirm at /settings/security/confirm, or with POST /v1/sessions/current/second-factor, then try again.'
        : 'Log in again with `agentgym login`, or create a new token.',
    data: { confirm: actor.tokenId === null ? 'session' : 'token' },
  })
}

/**
 * For workers: an operator's token with the scope `worker`, not limited to other kinds of jobs. Throws
 * `unauthenticated`, `forbidden`.
 */
export function requireWorker(actor: Actor | null, ...kinds: WorkKind[]): Actor {
  const known = requireOperator(actor, 'worker')
  const allowed = known.worker?.kinds ?? null
  const refused = allowed === null ? undefined : kinds.find((kind) => !allowed.includes(kind))
  if (allowed === null || refused === undefined) return known
  throw new AgentGymError({
    code: 'forbidden',
    message: `The token cannot be used for ${refused} jobs, only for: ${allowed.join(', ')}.`,
    hint: `Start the worker with --kinds ${allowed.join(',')}, or use another token.`,
    data: { kind: refused, kinds: [...allowed] },
  })
}

/** If the token is limited to one worker, the request must come from that worker. Throws `forbidden`. */
export function requireWorkerName({ worker }: Actor, name: string | undefined): void {
  const bound = worker?.name ?? null
  if (bound === null || bound === name) return
  throw new AgentGymError({
    code: 'forbidden',
    message: `The token can only be used by the worker "${bound}".`,
    hint: `Start the worker with --name ${JSON.stringify(bound)}, or use another token.`,
    data: { name: bound },
  })
}

/** Refuses tokens of a worker, whatever they are limited to: what directs workers is for operators. Throws `forbidden`. */
export function requireDirector({ worker }: Actor): void {
  if (worker === undefined) return
  throw new AgentGymError({
    code: 'forbidden',
    message: 'The token can only be used by a worker.',
    hint: 'Use a token with the scope worker that is not limited to kinds of work or to a worker.',
  })
}

function requireScope(actor: Actor, scope: Scope): void {
  if (!actor.scopes.has(scope))
    throw new AgentGymError({
      code: 'forbidden',
      message: `The token lacks the scope ${scope}.`,
      hint: `Create a token with the scope ${scope}.`,
      data: { needs_scope: scope },
    })
  if (actor.unconfirmed && confirmedScopes.has(scope))
    throw new AgentGymError({
      code: 'email_unconfirmed',
      message: `The email address of ${actor.username} is not confirmed. This server requires a confirmed address to train, publish and call agents.`,
      hint: 'Open the link in the email sent at sign-up, or request a new one at /settings/account.',
    })
}

/** Scopes that use workers or publish. Servers can require a confirmed email address for them. */
export const confirmedScopes: ReadonlySet<string> = new Set([
  'packages:publish',
  'packages:manage',
  'training:start',
  'training:evaluate',
  'agents:call',
])

export function unauthenticated(message = 'Authentication is required.'): AgentGymError {
  return new AgentGymError({
    code: 'unauthenticated',
    message,
    hint: 'Run `agentgym login`, or set AGENTGYM_TOKEN.',
  })
}

/** The same error for a missing package and a hidden one. */
export function packageNotFound(name: string): AgentGymError {
  return new AgentGymError({
    code: 'package_not_found',
    message: `Package ${name} not found.`,
    hint: 'If it is private, log in as a member of the account that owns it.',
    data: { name },
  })
}

/** The scopes of a token; a session has all permissions of its user. */
export const scopes = tokenScopeSchema.options
export type Scope = TokenScope

/** The authenticated caller: by session cookie or by token. */
export type Actor = {
  accountId: string
  username: string
  emailVerified: boolean
  /** Set if the server requires a confirmed address and the caller, not an operator, has none. */
  unconfirmed?: boolean
  operator: boolean
  /** Null for a session. */
  tokenId: string | null
  /**
   * Whether the second factor was confirmed: by this session within `secondFactorMinutes`, or when this token was created.
   * Absent if the account has no second factor.
   */
  factorConfirmed?: boolean
  /** Of a session: its stored ID, a hash. */
  sessionId?: string
  scopes: ReadonlySet<Scope>
  /** Limits of a worker's token; absent if there are none. */
  worker?: WorkerBinding
}

/** Limits of a worker's token: kinds of jobs, and the name of a worker. Null for no limit. */
export type WorkerBinding = { kinds: readonly WorkKind[] | null; name: string | null }

/**
 * The permission check that every route makes: whether this actor may perform the action on resources of account
 * `owner`. `read` of a private package requires membership (viewer or higher), `publish` member, `manage` admin, `own`
 * owner; and the scope of the token. Denials throw AgentGymError: `unauthenticated` (401) without an actor, `forbidden`
 * (403) otherwise, or `package_not_found` (404) if the existence is private.
 */
export type Permission = 'read' | 'publish' | 'manage' | 'own'

/**
 * Whether the caller of a long request is still authenticated: account enabled, session active, token neither revoked
 * nor expired.
 */
export async function actorHolds(query: Queries, { accountId, tokenId, sessionId }: Actor): Promise<boolean> {
  const now = sql<Date>`now()`
  const row = await query
    .selectFrom('accounts')
    .leftJoin('tokens', (join) =>
      join
        .onRef('tokens.account_id', '=', 'accounts.id')
        .on('tokens.id', '=', tokenId)
        .on('tokens.revoked_at', 'is', null)
        .on((on) => on.or([on('tokens.expires_at', 'is', null), on('tokens.expires_at', '>', now)])),
    )
    .leftJoin('sessions', (join) =>
      join
        .onRef('sessions.user_id', '=', 'accounts.id')
        .on('sessions.id', '=', sessionId ?? '')
        .on('sessions.expires_at', '>', now),
    )
    .select(['tokens.id as token', 'sessions.id as session'])
    .where('accounts.id', '=', accountId)
    .where('accounts.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return false
  return (tokenId === null || row.token !== null) && (sessionId === undefined || row.session !== null)
}
