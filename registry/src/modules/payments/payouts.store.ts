import type { Payout } from '@agentgym/contract'
import type { Queries } from '../../core/database/database.ts'
import type { PageEnd } from '../../core/database/page-cursor.ts'
import { beforePageEnd } from './before-page-end.ts'
import type { PayoutRow } from './settle-payout.ts'

type PayoutView = PayoutRow & { account: string }

export async function findPayout(query: Queries, id: string): Promise<PayoutView | undefined> {
  return views(query).where('payouts.id', '=', id).executeTakeFirst()
}

/** Newest first. */
export async function listPayouts(
  query: Queries,
  { owners, after, limit }: { owners: string[]; after: PageEnd | null; limit: number },
): Promise<PayoutView[]> {
  return views(query)
    .where('payouts.account_id', 'in', owners)
    .where(beforePageEnd('payouts', after))
    .orderBy('payouts.created_at', 'desc')
    .orderBy('payouts.id', 'desc')
    .limit(limit)
    .execute()
}

function views(query: Queries) {
  return query
    .selectFrom('payouts')
    .innerJoin('accounts', 'accounts.id', 'payouts.account_id')
    .selectAll('payouts')
    .select('accounts.username as account')
}

/** As the API tells it. */
export function payoutOf(row: PayoutView): Payout {
  return {
    id: row.id,
    account: row.account,
    state: row.state,
    amount_minor: row.amount_minor,
    currency: row.currency,
    message: row.message,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}
