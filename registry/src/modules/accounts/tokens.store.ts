import { AgentGymError, workKindSchema } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { type Actor, type Scope, scopes, unauthenticated, type WorkerBinding } from '../../core/access/authorize.ts'
import { hashSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'

/** A token as shown to its owner, without its secret. */
export type StoredToken = {
  id: string
  name: string
  prefix: string
  scopes: Scope[]
  /** The token that created it. */
  parent_id: string | null
  worker: WorkerBinding | null
  expires_at: Date | null
  last_used_at: Date | null
  created_at: Date
}

const storedColumns = [
  ...(['id', 'name', 'prefix', 'scopes', 'parent_id', 'worker_kinds', 'worker_name'] as const),
  ...(['expires_at', 'last_used_at', 'created_at'] as const),
] as const

/** Identifies a token in a list: `agt_` and eight of 27 digits, which leaves 112 bits unknown. */
const shownDigits = 12

type NewToken = {
  accountId: string
  name: string
  scopes: readonly Scope[]
  expiresAt: Date | null
  worker?: WorkerBinding | null
  /** See `Actor.factorConfirmed`. */
  confirmed?: boolean | undefined
  /** The parent token: see `boundToParent`. */
  parentId?: string | null
}

/** Creates a token. `token` cannot be retrieved later. */
export async function createToken(query: Queries, token: NewToken): Promise<StoredToken & { token: string }> {
  const secret = makeSecret('agt_')
  const { kinds = null, name: workerName = null } = token.worker ?? {}
  const row = await query
    .insertInto('tokens')
    .values({
      account_id: token.accountId,
      name: token.name,
      hash: hashSecret(secret),
      prefix: secret.slice(0, shownDigits),
      scopes: JSON.stringify([...new Set(token.scopes)]),
      parent_id: token.parentId ?? null,
      confirmed: token.confirmed ?? false,
      worker_kinds: kinds === null ? null : JSON.stringify([...new Set(kinds)]),
      worker_name: workerName,
      expires_at: token.expiresAt,
    })
    .returning(storedColumns)
    .executeTakeFirstOrThrow()
  return { ...stored(row), token: secret }
}

type Row = Omit<StoredToken, 'worker' | 'scopes'> & {
  scopes: string[]
  worker_kinds: string[] | null
  worker_name: string | null
}

function stored({ scopes, worker_kinds, worker_name, ...row }: Row): StoredToken {
  return { ...row, scopes: knownScopes(scopes), worker: bindingOf({ worker_kinds, worker_name }) }
}

function bindingOf({ worker_kinds: kinds, worker_name: name }: Pick<Row, 'worker_kinds' | 'worker_name'>) {
  if (kinds === null && name === null) return null
  return { kinds: kinds === null ? null : workKindSchema.options.filter((kind) => kinds.includes(kind)), name }
}

/**
 * Restricts a token created by `tokenId`: it expires no later than its parent and has the parent's limits. Locks the
 * parent until the transaction ends, so that a concurrent revocation finds the new token. Throws `unauthenticated` if
 * the parent is no longer valid, `forbidden` for work outside the parent's limits.
 */
export async function boundToParent<Wanted extends Pick<NewToken, 'expiresAt' | 'worker'>>(
  query: Transaction<Schema>,
  tokenId: string | null,
  wanted: Wanted,
): Promise<Wanted> {
  if (tokenId === null) return wanted
  const parent = await query
    .selectFrom('tokens')
    .select(['expires_at', 'worker_kinds', 'worker_name'])
    .where('id', '=', tokenId)
    .where('revoked_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (parent === undefined) throw unauthenticated('The token was revoked.')
  const times = [wanted.expiresAt, parent.expires_at].flatMap((time) => (time === null ? [] : [time.getTime()]))
  const expiresAt = times.length === 0 ? null : new Date(Math.min(...times))
  return { ...wanted, expiresAt, worker: narrowed(bindingOf(parent), wanted.worker ?? null) }
}

function narrowed(parent: WorkerBinding | null, wanted: WorkerBinding | null): WorkerBinding | null {
  if (parent === null) return wanted
  const refused = parent.kinds === null ? undefined : wanted?.kinds?.find((kind) => !parent.kinds?.includes(kind))
  if (refused !== undefined || (parent.name !== null && (wanted?.name ?? parent.name) !== parent.name))
    throw new AgentGymError({
      code: 'forbidden',
      message: 'A token that is limited to kinds of jobs or to a worker cannot create a token for others.',
      data: { kinds: parent.kinds === null ? null : [...parent.kinds], name: parent.name },
    })
  return { kinds: wanted?.kinds ?? parent.kinds, name: wanted?.name ?? parent.name }
}

/** Those not revoked, newest first. */
export async function listTokens(query: Queries, accountId: string): Promise<StoredToken[]> {
  const rows = await query
    .selectFrom('tokens')
    .select(storedColumns)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map(stored)
}

/**
 * Revokes a token and all tokens created from it. Returns their IDs, the token's own first; empty if there is no such
 * token.
 */
export async function revokeToken(query: Transaction<Schema>, accountId: string, id: string): Promise<string[]> {
  const revoked: string[] = []
  let found = await revokeWhere(query, accountId, { id: [id] })
  // Generation by generation: a token that is being created locks its parent, so it exists once the parent is revoked.
  while (found.length > 0) {
    revoked.push(...found)
    found = await revokeWhere(query, accountId, { parent_id: found })
  }
  return revoked
}

async function revokeWhere(
  query: Transaction<Schema>,
  accountId: string,
  where: { id: string[] } | { parent_id: string[] },
): Promise<string[]> {
  const [column, ids] = 'id' in where ? (['id', where.id] as const) : (['parent_id', where.parent_id] as const)
  const rows = await query
    .updateTable('tokens')
    .set({ revoked_at: new Date() })
    .where(column, 'in', ids)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

export async function revokeAllTokens(query: Queries, accountId: string): Promise<void> {
  await query
    .updateTable('tokens')
    .set({ revoked_at: new Date() })
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute()
}

/** A token with its owner, valid or not; undefined if it was never issued. */
export async function findToken(query: Queries, secret: string) {
  const row = await query
    .selectFrom('tokens')
    .innerJoin('accounts', 'accounts.id', 'tokens.account_id')
    .leftJoin('second_factors', (join) =>
      join.onRef('second_factors.account_id', '=', 'accounts.id').on('second_factors.enabled_at', 'is not', null),
    )
    .select(['tokens.id', 'tokens.account_id', 'tokens.scopes', 'tokens.confirmed', 'second_factors.enabled_at'])
    .select(['tokens.expires_at', 'tokens.revoked_at', 'tokens.last_used_at'])
    .select(['tokens.worker_kinds', 'tokens.worker_name'])
    .select(['accounts.username', 'accounts.email_verified_at', 'accounts.operator', 'accounts.disabled_at'])
    .where('tokens.hash', '=', hashSecret(secret))
    .executeTakeFirst()
  return row === undefined ? undefined : { ...row, scopes: knownScopes(row.scopes), worker: bindingOf(row) }
}

/** Records the last use with a resolution of five minutes, to avoid a write per request. */
export async function touchToken(query: Queries, token: { id: string; last_used_at: Date | null }): Promise<void> {
  if (token.last_used_at !== null && Date.now() - token.last_used_at.getTime() < touchEveryMs) return
  await query.updateTable('tokens').set({ last_used_at: sql<Date>`now()` }).where('id', '=', token.id).execute()
}
const touchEveryMs = 5 * 60_000

/** Unknown scopes, such as those removed in a later version, grant nothing. */
function knownScopes(stored: string[]): Scope[] {
  return scopes.filter((scope) => stored.includes(scope))
}

/**
 * A token with a spend cap can neither raise a limit nor create a token without one. Throws `forbidden` if the caller's
 * token has a spend cap.
 */
export async function requireUncapped(query: Queries, { tokenId }: Pick<Actor, 'tokenId'>): Promise<void> {
  if (tokenId === null) return
  const cap = await query.selectFrom('spend_caps').select('id').where('token_id', '=', tokenId).executeTakeFirst()
  if (cap === undefined) return
  throw new AgentGymError({
    code: 'forbidden',
    message: 'A token with a spend cap cannot change caps or create tokens.',
    hint: 'Log in, or use a token without a cap.',
  })
}

/** Default lifetime of a token. */
export const defaultTokenDays = 90

/** Tokens can't grant more than their creator has. Only operators may create worker tokens. */
export function requireGrantable(actor: Actor, wanted: readonly Scope[]): void {
  if (wanted.includes('worker') && !actor.operator)
    throw new AgentGymError({
      code: 'forbidden',
      message: 'Only operators of this server can create worker tokens.',
      data: { scope: 'worker' },
    })
  const missing = wanted.find((scope) => !actor.scopes.has(scope))
  if (missing !== undefined)
    throw new AgentGymError({
      code: 'forbidden',
      message: `A token without the scope ${missing} cannot create one with that scope.`,
      data: { needs_scope: missing },
    })
}

export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000)
}
