import { AgentGymError } from '@agentgym/contract'
import type { Selectable, Transaction } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database, Queries } from '../../core/database/database.ts'
import type { AccountTable, Schema } from '../../core/database/schema.ts'
import { canonicalName, findableEmail, findableUsername } from './account-name.ts'

export type Account = Selectable<AccountTable>
type NewAccount = {
  kind: 'user' | 'organisation'
  username: string
  displayName?: string | null
  email?: string | null
  emailVerified?: boolean
  passwordHash?: string | null
  operator?: boolean
}

/** Throws `name_taken` if the name or a look-alike is taken, `email_taken` if the address is. */
export async function insertAccount(query: Transaction<Schema>, account: NewAccount): Promise<Account> {
  const email = account.email?.toLowerCase() ?? null
  const canonical = canonicalName(account.username)
  const row = await query
    .insertInto('accounts')
    .values({
      kind: account.kind,
      username: account.username,
      username_canonical: canonical,
      display_name: account.displayName ?? null,
      email,
      email_verified_at: account.emailVerified ? new Date() : null,
      password_hash: account.passwordHash ?? null,
      operator: account.operator ?? false,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row !== undefined) return row
  if (await findBy(query, 'username_canonical', canonical))
    throw new AgentGymError({
      code: 'name_taken',
      message: `The name ${account.username} is taken, or too similar to a name that is taken.`,
      hint: 'Choose another name.',
      data: { field: 'username' },
    })
  throw new AgentGymError({
    code: 'email_taken',
    message: 'Another account uses this email address.',
    hint: 'Log in, or reset your password.',
    data: { field: 'email' },
  })
}

/** By its name, in any casing. */
export async function findAccount(query: Queries, username: string): Promise<Account | undefined> {
  const findable = findableUsername(username)
  return findable === null ? undefined : findBy(query, 'username', findable)
}

/** Finds the account by username or email address. Usernames never contain `@`. */
export async function findAccountToLogIn(query: Queries, nameOrEmail: string): Promise<Account | undefined> {
  const email = findableEmail(nameOrEmail)
  return email === null ? findAccount(query, nameOrEmail) : findAccountByEmail(query, email)
}

export function findAccountById(query: Queries, id: string): Promise<Account | undefined> {
  return findBy(query, 'id', id)
}

export function findAccountByEmail(query: Queries, email: string): Promise<Account | undefined> {
  return findBy(query, 'email', email.toLowerCase())
}

function findBy(query: Queries, column: 'id' | 'username' | 'username_canonical' | 'email', value: string) {
  return query.selectFrom('accounts').selectAll().where(column, '=', value).executeTakeFirst()
}

export async function updateAccount(
  query: Queries,
  id: string,
  change: Partial<Pick<Account, 'password_hash' | 'email' | 'email_verified_at'>>,
): Promise<void> {
  await query.updateTable('accounts').set(change).where('id', '=', id).execute()
}

/**
 * Whether the new account will be the first. If so, holds a lock until the transaction ends, so that only one of two
 * concurrent sign-ups is first.
 */
export async function isFirstAccount(database: Database, query: Transaction<Schema>): Promise<boolean> {
  const anybody = () => query.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
  if ((await anybody()) !== undefined) return false
  await database.lock(query, 'first-account')
  return (await anybody()) === undefined
}

/** The account of that name. Throws `account_not_found`. */
export async function requireAccount(
  query: Queries,
  username: string,
  kind: 'user' | 'organisation',
): Promise<Account> {
  const account = await findAccount(query, username)
  if (account?.kind === kind) return account
  throw new AgentGymError({
    code: 'account_not_found',
    message: `No ${kind === 'user' ? 'user' : 'organization'} is named ${JSON.stringify(username.slice(0, 100))}.`,
    data: { username: username.slice(0, 100) },
  })
}

/**
 * The account that a request is for: the caller's own, or the named one. Does not check whether the caller may act for
 * it. `hint` suggests an alternative. Throws `account_not_found`.
 */
export async function requestedAccount(
  query: Queries,
  { accountId, username }: Actor,
  account: string | undefined,
  hint: string,
): Promise<{ id: string; username: string }> {
  const wanted = account?.toLowerCase()
  if (wanted === undefined || wanted === username) return { id: accountId, username }
  const found = await query
    .selectFrom('accounts')
    .select(['id', 'username'])
    .where('username', '=', wanted)
    .executeTakeFirst()
  if (found === undefined)
    throw new AgentGymError({
      code: 'account_not_found',
      message: `No account is named "${wanted}".`,
      hint,
      data: { field: 'account' },
    })
  return found
}
