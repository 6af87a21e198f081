import assert from 'node:assert'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import { isCurrency } from './rules/amounts.ts'
import { type AccountCode, chartOfAccounts } from './rules/chart-of-accounts.ts'
import type { LedgerAccount } from './rules/decide-transfers.ts'

/** A ledger account with its sums, in minor units. `ownerId` is null for the platform's accounts. */
export type Account = LedgerAccount & { ownerId: string | null; code: AccountCode }

/** A row as selected by `accountColumns`: sums are text, because they may exceed what a number holds. */
export type AccountRow = {
  id: string
  owner_id: string | null
  code: AccountCode
  currency: string
  debits_must_not_exceed_credits: boolean
  credits_must_not_exceed_debits: boolean
  hot: boolean
  debits_posted: string
  credits_posted: string
  debits_pending: string
  credits_pending: string
}

export function accountOf(row: AccountRow): Account {
  return {
    id: row.id,
    ownerId: row.owner_id,
    code: row.code,
    currency: row.currency,
    debitsMustNotExceedCredits: row.debits_must_not_exceed_credits,
    creditsMustNotExceedDebits: row.credits_must_not_exceed_debits,
    hot: row.hot,
    debitsPosted: BigInt(row.debits_posted),
    creditsPosted: BigInt(row.credits_posted),
    debitsPending: BigInt(row.debits_pending),
    creditsPending: BigInt(row.credits_pending),
  }
}

/** The available amount of an account: credits less debits and holds. Negative if it owes. */
export function availableMinor({ creditsPosted, debitsPosted, debitsPending }: Account): bigint {
  return creditsPosted - debitsPosted - debitsPending
}

/** `owner` null for the platform's accounts. */
type AccountKey = { owner: string | null; code: AccountCode; currency: string }

/**
 * The IDs of accounts, in the order of `keys`. Opens missing accounts, each only once even under concurrency. One round
 * trip if all exist.
 */
export async function openAccounts(query: Transaction<Schema>, keys: readonly AccountKey[]): Promise<string[]> {
  for (const { owner, code, currency } of keys) {
    assert(
      chartOfAccounts[code].owned === (owner !== null),
      `an account ${code} has ${owner === null ? 'an' : 'no'} owner`,
    )
    assert(isCurrency(currency), `${currency} is no currency`)
  }
  let found = await findAccounts(query, keys)
  const missing = keys.filter((key) => !found.has(nameOf(key)))
  if (missing.length > 0) {
    await insertAccounts(query, missing)
    found = await findAccounts(query, keys)
  }
  return keys.map((key) => {
    const id = found.get(nameOf(key))
    assert(id !== undefined)
    return id
  })
}

export async function openAccount(query: Transaction<Schema>, key: AccountKey): Promise<string> {
  const [id] = await openAccounts(query, [key])
  return id
}

const nameOf = ({ owner, code, currency }: AccountKey): string => `${owner}/${code}/${currency}`

/**
 * IDs by name, each looked up by its key: a join would read the whole table, and a null-safe comparison uses no index.
 */
async function findAccounts(query: Queries, keys: readonly AccountKey[]): Promise<Map<string, string>> {
  const { rows } = await sql<AccountKey & { id: string }>`
    select found.id, owner, code, currency
    from jsonb_to_recordset(${JSON.stringify(keys)}::text::jsonb) as wanted(owner uuid, code text, currency text)
    cross join lateral (
      (select id from ledger_accounts account where account.owner_id = wanted.owner and account.code = wanted.code
        and account.currency = wanted.currency limit 1)
      union all
      (select id from ledger_accounts account where account.owner_id is null and wanted.owner is null
        and account.code = wanted.code and account.currency = wanted.currency limit 1)
    ) found`.execute(query)
  return new Map(rows.map((row) => [nameOf(row), row.id]))
}

/** In a fixed order, so that two callers that open the same accounts do not deadlock. */
async function insertAccounts(query: Queries, keys: readonly AccountKey[]): Promise<void> {
  const rows = [...new Map(keys.map((key) => [nameOf(key), key])).entries()]
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .map(([, { owner, code, currency }]) => {
      const { debitsMustNotExceedCredits, creditsMustNotExceedDebits, hot } = chartOfAccounts[code]
      return {
        owner_id: owner,
        code,
        currency,
        debits_must_not_exceed_credits: debitsMustNotExceedCredits,
        credits_must_not_exceed_debits: creditsMustNotExceedDebits,
        hot,
      }
    })
  await query
    .insertInto('ledger_accounts')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Current accounts by ID, including hot ones. Not locked: only `applyTransfers` makes decisions about them. */
export async function readAccounts(query: Queries, ids: Iterable<string>): Promise<Map<string, Account>> {
  return byId(await selectAccounts(query, sql`account.id = any(${uuidArray(ids)})`))
}

/** All accounts of an owner, or of the platform (null). */
export async function readOwnersAccounts(query: Queries, owner: string | null): Promise<Account[]> {
  const accounts = await selectAccounts(
    query,
    owner === null ? sql`account.owner_id is null` : sql`account.owner_id = ${owner}`,
  )
  return accounts
}

async function selectAccounts(query: Queries, condition: ReturnType<typeof sql>): Promise<Account[]> {
  const { rows } = await sql<AccountRow>`
    select account.id, account.owner_id, account.code, account.currency, account.hot,
      account.debits_must_not_exceed_credits, account.credits_must_not_exceed_debits,
      (account.debits_posted + coalesce(entries.debits_posted, 0))::text as debits_posted,
      (account.credits_posted + coalesce(entries.credits_posted, 0))::text as credits_posted,
      (account.debits_pending + coalesce(entries.debits_pending, 0))::text as debits_pending,
      (account.credits_pending + coalesce(entries.credits_pending, 0))::text as credits_pending
    from ledger_accounts account left join lateral (
      select sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
        sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
      from ledger_hot_entries where account_id = account.id
    ) entries on account.hot
    where ${condition} order by account.code, account.currency, account.id`.execute(query)
  return rows.map(accountOf)
}

/**
 * Locks accounts until the transaction ends and returns their state, which no other transfer can change meanwhile.
 * Locks are taken in the order of IDs, so request all accounts at once. Hot accounts cannot be locked.
 */
export async function lockAccounts(query: Transaction<Schema>, ids: Iterable<string>): Promise<Map<string, Account>> {
  const { rows } = await sql<AccountRow>`
    select id, owner_id, code, currency, hot, debits_must_not_exceed_credits, credits_must_not_exceed_debits,
      debits_posted::text, credits_posted::text, debits_pending::text, credits_pending::text
    from ledger_accounts where id = any(${uuidArray(ids)}) and not hot
    order by id for no key update`.execute(query)
  return byId(rows.map(accountOf))
}

const byId = (accounts: Account[]) => new Map(accounts.map((account) => [account.id, account]))
