import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { recordAudit } from '../../core/access/audit.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'
import { checkUsername } from './account-name.ts'
import { type Account, findAccount, insertAccount, requireAccount } from './accounts.store.ts'
import { claim } from './claim.ts'
import { withdrawApprovals } from './device-log-in.ts'
import { hashPassword } from './log-in.ts'
import { dropEmailChange, voidMailTokens } from './mail-tokens.store.ts'
import { luciaSessions } from './sessions.ts'
import { revokeAllTokens } from './tokens.store.ts'

type Change = { username: string; ip: string | null }

/** Makes a user an operator. Throws `account_not_found`. */
export async function addOperator(database: Database, actor: Actor | null, { username, ip }: Change): Promise<Account> {
  return database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await claim(query)
    await query.updateTable('accounts').set({ operator: true }).where('id', '=', account.id).execute()
    await recordAudit(query, { actor, action: 'operator.add', subject: `account:${account.username}`, ip })
    return account
  })
}

/** Creates an operator on a server that does not accept sign-ups yet. Throws like `signUp`. */
export async function createOperator(
  database: Database,
  { username, email, password }: { username: string; email: string; password: string },
): Promise<Account> {
  checkUsername(username, { operator: true })
  const passwordHash = await hashPassword(password)
  return database.transaction(async (query) => {
    const account = await insertAccount(query, { kind: 'user', username, email, passwordHash, operator: true })
    await claim(query)
    const subject = `account:${username}`
    await recordAudit(query, { actor: null, action: 'account.create', subject, ip: null, data: { operator: true } })
    return account
  })
}

/** Whether an account of that name exists, for `agentgym operator add`. */
export async function accountExists({ query }: Database, username: string): Promise<boolean> {
  return (await findAccount(query, username)) !== undefined
}

/** Demotes an operator to a user. Throws `account_not_found`, `last_operator`. */
export async function removeOperator(database: Database, actor: Actor | null, { username, ip }: Change): Promise<void> {
  await database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await keepAnOperator(database, query, account)
    await query.updateTable('accounts').set({ operator: false }).where('id', '=', account.id).execute()
    await recordAudit(query, { actor, action: 'operator.remove', subject: `account:${account.username}`, ip })
  })
}

/**
 * Disables an account, which ends its sessions and requests; its tokens are refused while it is disabled. Throws
 * `account_not_found`, `last_operator`.
 */
export async function disableAccount(
  { database, config }: Services,
  actor: Actor,
  { username, reason, ip }: Change & { reason: string },
): Promise<void> {
  await database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await keepAnOperator(database, query, account)
    await query
      .updateTable('accounts')
      .set({ disabled_at: account.disabled_at ?? new Date(), disabled_reason: reason })
      .where('id', '=', account.id)
      .execute()
    await endAccess(query, account.id, config)
    const subject = `account:${account.username}`
    await recordAudit(query, { actor, action: 'account.disable', subject, ip, data: { reason } })
  })
}

/** Throws `account_not_found`. */
export async function enableAccount({ database }: Services, actor: Actor, { username, ip }: Change): Promise<void> {
  await database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await query
      .updateTable('accounts')
      .set({ disabled_at: null, disabled_reason: null })
      .where('id', '=', account.id)
      .execute()
    await recordAudit(query, { actor, action: 'account.enable', subject: `account:${account.username}`, ip })
  })
}

/** Ends every session of a user and, with `tokens`, revokes every token. Throws `account_not_found`. */
export async function signOutEverywhere(
  { database, config }: Services,
  actor: Actor,
  { username, tokens, ip }: Change & { tokens: boolean },
): Promise<void> {
  await database.transaction(async (query) => {
    const account = await requireAccount(query, username, 'user')
    await endAccess(query, account.id, config)
    if (tokens) await revokeAllTokens(query, account.id)
    const subject = `account:${account.username}`
    await recordAudit(query, { actor, action: 'account.sign_out', subject, ip, data: { tokens } })
  })
}

/** All logins of a user and their devices, except tokens. */
async function endAccess(query: Transaction<Schema>, accountId: string, config: ServerConfig): Promise<void> {
  await luciaSessions(query, config).endAllOf(accountId)
  await voidMailTokens(query, 'reset', accountId)
  await dropEmailChange(query, accountId)
  await withdrawApprovals(query, accountId)
}

/** Refuses to remove the last operator who can log in. Concurrent changes wait for each other. */
async function keepAnOperator(database: Database, query: Transaction<Schema>, account: Account): Promise<void> {
  await database.lock(query, 'operators')
  const others = await query
    .selectFrom('accounts')
    .select('id')
    .where('operator', '=', true)
    .where('disabled_at', 'is', null)
    .where('id', '<>', account.id)
    .limit(1)
    .executeTakeFirst()
  // Read again under the lock, because a concurrent change may have added or removed this operator.
  const now = await query
    .selectFrom('accounts')
    .select(['operator', 'disabled_at'])
    .where('id', '=', account.id)
    .executeTakeFirst()
  if (now?.operator !== true || now.disabled_at !== null || others !== undefined) return
  throw new AgentGymError({
    code: 'last_operator',
    message: `${account.username} is the last operator of this server.`,
    hint: 'Add another operator first.',
  })
}

export type ListedAccount = Pick<
  Account,
  'username' | 'kind' | 'email' | 'email_verified_at' | 'operator' | 'disabled_at' | 'disabled_reason' | 'created_at'
> & { second_factor: boolean }

/** Accounts by name, for operators: those whose name or address contains `q`, after the name `after`. */
export async function listAccounts(
  query: Queries,
  { q, operators, after, limit }: { q?: string; operators?: boolean; after?: string; limit: number },
): Promise<ListedAccount[]> {
  const pattern = `%${(q ?? '').toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return query
    .selectFrom('accounts')
    .select(['username', 'kind', 'email', 'email_verified_at', 'operator'])
    .select(['disabled_at', 'disabled_reason', 'created_at'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('second_factors')
          .select('account_id')
          .whereRef('account_id', '=', 'accounts.id')
          .where('enabled_at', 'is not', null),
      )
        .$castTo<boolean>()
        .as('second_factor'),
    )
    .$if(q !== undefined && q !== '', (select) =>
      select.where((where) => where.or([where('username', 'like', pattern), where('email', 'like', pattern)])),
    )
    .$if(operators === true, (select) => select.where('operator', '=', true))
    .$if(after !== undefined, (select) => select.where('username', '>', after ?? ''))
    .orderBy('username')
    .limit(limit)
    .execute()
}
