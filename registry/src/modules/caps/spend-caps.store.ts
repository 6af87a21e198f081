import { type Selectable, sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { SpendCapTable } from '../../core/database/market-schema.ts'

export type Cap = Selectable<SpendCapTable>

/**
 * What counts towards a cap, in its period: orders that were not cancelled and have not expired, whatever was refunded of them
 * since, and metered calls: of an account those that are posted, of a token those that it made. Days and months are those of UTC.
 */
export async function spentMinor(
  query: Queries,
  { account_id: accountId, token_id: tokenId, period }: Pick<Cap, 'account_id' | 'token_id' | 'period'>,
  currency: string,
): Promise<number> {
  const since =
    period === 'total'
      ? sql`'-infinity'::timestamptz`
      : sql`date_trunc(${period}, now() at time zone 'UTC') at time zone 'UTC'`
  const whose = tokenId === null ? sql`buyer_id = ${accountId}` : sql`token_id = ${tokenId}`
  const calls =
    tokenId === null
      ? sql`(select coalesce(sum(amount_minor), 0) from usage_batches
          where account_id = ${accountId} and currency = ${currency} and created_at >= ${since})`
      : sql`(select coalesce(ceil(sum((calls - trial_calls)::numeric * price_minor) / 1000), 0) from usage_events
          where token_id = ${tokenId} and created_at >= ${since})`
  const { rows } = await sql<{ spent: number }>`
    select (${calls} + (select coalesce(sum(total_minor), 0) from orders
      where ${whose} and currency = ${currency} and created_at >= ${since} and state not in ('cancelled', 'expired')
        and (state <> 'awaiting_payment' or expires_at is null or expires_at > now())))::bigint as spent`.execute(query)
  return rows[0].spent
}

export type CapView = Cap & { account: string; token_name: string | null }

/** Of an account and of its tokens; one alone by its id. */
export async function listCaps(
  query: Queries,
  { accountId, id }: { accountId: string; id?: string },
): Promise<CapView[]> {
  return query
    .selectFrom('spend_caps')
    .innerJoin('accounts', 'accounts.id', 'spend_caps.account_id')
    .leftJoin('tokens', 'tokens.id', 'spend_caps.token_id')
    .selectAll('spend_caps')
    .select(['accounts.username as account', 'tokens.name as token_name'])
    .where('spend_caps.account_id', '=', accountId)
    .$if(id !== undefined, (select) => select.where('spend_caps.id', '=', id ?? ''))
    .orderBy('spend_caps.created_at')
    .orderBy('spend_caps.id')
    .execute()
}
