import type { Balance } from '@agentgym/contract'
import type { Actor } from '../../core/access/authorise.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party, readingScope } from '../accounts/organisations.ts'
import { availableMinor } from '../ledger/account.ts'
import { readOwnersAccounts } from '../ledger/accounts.store.ts'

/** What an account can spend. Throws `unauthenticated`, `forbidden`, `account_not_found`. */
export async function showBalance(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  account: string | undefined,
): Promise<Balance> {
  const scope = readingScope(actor)
  const party = await findParty(database.query, actor, account, { permission: 'read', scope })
  return readBalance(database.query, party, config.training.currency)
}

export async function readBalance(query: Queries, { id, username }: Party, currency: string): Promise<Balance> {
  const accounts = await readOwnersAccounts(query, id)
  const balance = accounts.find((account) => account.code === 'balance' && account.currency === currency)
  const { awaited } = await query
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<string | null>('amount_minor').as('awaited'))
    .where('account_id', '=', id)
    .where('currency', '=', currency)
    .where('purpose', '=', 'top_up')
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow()
  return {
    account: username,
    currency,
    available_minor: balance === undefined ? 0 : Number(availableMinor(balance)),
    held_minor: balance === undefined ? 0 : Number(balance.debitsPending),
    awaited_minor: Number(awaited ?? 0),
  }
}
