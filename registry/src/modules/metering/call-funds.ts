import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { spentMinor } from '../caps/spend-caps.store.ts'
import { availableMinor } from '../ledger/account.ts'
import { readOwnersAccounts } from '../ledger/accounts.store.ts'

type Asked = {
  accountId: string
  /** The token that asks, whose own caps hold too. */
  tokenId: string | null
  /** Of 1,000 calls. */
  priceMinor: number
}

/**
 * What keeps an account from paying for one more call beside those that are not posted yet and those that are under way: its
 * balance, or a cap of it or of the token. Null where nothing does.
 */
export async function lackOfFunds(
  query: Queries,
  { accountId, tokenId, priceMinor }: Asked,
  currency: string,
): Promise<'balance' | 'cap' | null> {
  if (priceMinor === 0) return null
  const accounts = await readOwnersAccounts(query, accountId)
  const balance = accounts.find(({ code, currency: of }) => code === 'balance' && of === currency)
  const under = await costOfOpenCalls(query, { accountId, tokenId })
  // Prices are of 1,000 calls: all in thousandths of a minor unit.
  const price = BigInt(priceMinor)
  const available = balance === undefined ? 0n : availableMinor(balance)
  if (under.unposted + under.open + price > available * 1_000n) return 'balance'
  const caps = await query
    .selectFrom('spend_caps')
    .selectAll()
    .where('account_id', '=', accountId)
    .where((where) => where.or([where('token_id', 'is', null), where('token_id', '=', tokenId)]))
    .execute()
  for (const cap of caps) {
    const left = BigInt(cap.amount_minor) - BigInt(await spentMinor(query, cap, currency))
    // What a token's calls cost counts at once, an account's once it is posted.
    const beside = cap.token_id === null ? under.unposted + under.open : under.openOfToken
    if (beside + price > left * 1_000n) return 'cap'
  }
  return null
}

type Costs = { unposted: bigint; open: bigint; openOfToken: bigint }

async function costOfOpenCalls(query: Queries, { accountId, tokenId }: Omit<Asked, 'priceMinor'>): Promise<Costs> {
  const { rows } = await sql<{ unposted: string; open: string; of_token: string }>`
    select
      (select coalesce(sum((calls - trial_calls)::numeric * price_minor), 0)::text
        from usage_events where account_id = ${accountId} and batch_id is null) as unposted,
      coalesce(sum(price_minor), 0)::text as open,
      coalesce(sum(price_minor) filter (where token_id = ${tokenId}::uuid), 0)::text as of_token
    from hosted_calls where account_id = ${accountId} and state in ('waiting', 'leased')`.execute(query)
  const [{ unposted, open, of_token }] = rows
  return { unposted: BigInt(unposted), open: BigInt(open), openOfToken: BigInt(of_token) }
}
