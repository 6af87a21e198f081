import { AgentGymError } from '@agentgym/contract'
import { sql } from 'kysely'
import { type Actor, type Scope, scopes } from '../../core/access/authorise.ts'
import { hashSecret, makeSecret } from '../../core/access/secret.ts'
import type { Queries } from '../../core/database/database.ts'

/** As its owner may see it again: without the token. */
export type StoredToken = {
  id: string
  name: string
  prefix: string
  scopes: Scope[]
  expires_at: Date | null
  last_used_at: Date | null
  created_at: Date
}

/** Identifies a token in a list: `agt_` and eight of 27 digits, which leaves 112 bits unknown. */
const shownDigits = 12

/** Makes a token; `token` is never to be had again. */
export async function createToken(
  query: Queries,
  token: { accountId: string; name: string; scopes: readonly Scope[]; expiresAt: Date | null },
): Promise<StoredToken & { token: string }> {
  const secret = makeSecret('agt_')
  const row = await query
    .insertInto('tokens')
    .values({
      account_id: token.accountId,
      name: token.name,
      hash: hashSecret(secret),
      prefix: secret.slice(0, shownDigits),
      scopes: JSON.stringify([...new Set(token.scopes)]),
      expires_at: token.expiresAt,
    })
    .returning(['id', 'name', 'prefix', 'scopes', 'expires_at', 'last_used_at', 'created_at'])
    .executeTakeFirstOrThrow()
  return { ...row, scopes: knownScopes(row.scopes), token: secret }
}

/** Those not revoked, newest first. */
export async function listTokens(query: Queries, accountId: string): Promise<StoredToken[]> {
  const rows = await query
    .selectFrom('tokens')
    .select(['id', 'name', 'prefix', 'scopes', 'expires_at', 'last_used_at', 'created_at'])
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, scopes: knownScopes(row.scopes) }))
}

/** Whether the account had such a token. */
export async function revokeToken(query: Queries, accountId: string, id: string): Promise<boolean> {
  const row = await query
    .updateTable('tokens')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function revokeAllTokens(query: Queries, accountId: string): Promise<void> {
  await query
    .updateTable('tokens')
    .set({ revoked_at: new Date() })
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .execute()
}

/** A token with whose it is, valid or not; undefined for one that was never handed out. */
export async function findToken(query: Queries, secret: string) {
  const row = await query
    .selectFrom('tokens')
    .innerJoin('accounts', 'accounts.id', 'tokens.account_id')
    .select(['tokens.id', 'tokens.account_id', 'tokens.scopes'])
    .select(['tokens.expires_at', 'tokens.revoked_at', 'tokens.last_used_at'])
    .select(['accounts.username', 'accounts.email_verified_at', 'accounts.operator', 'accounts.disabled_at'])
    .where('tokens.hash', '=', hashSecret(secret))
    .executeTakeFirst()
  return row === undefined ? undefined : { ...row, scopes: knownScopes(row.scopes) }
}

/** Notes a use, to five minutes: not a write for every request. */
export async function touchToken(query: Queries, token: { id: string; last_used_at: Date | null }): Promise<void> {
  if (token.last_used_at !== null && Date.now() - token.last_used_at.getTime() < touchEveryMs) return
  await query.updateTable('tokens').set({ last_used_at: sql<Date>`now()` }).where('id', '=', token.id).execute()
}
const touchEveryMs = 5 * 60_000

/** A scope that a later version dropped grants nothing. */
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
