import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { type Account, availableMinor } from '../ledger/account.ts'

/**
 * What of an account's earnings may be paid out now: what it holds, less what came in within the hold and was not given back
 * since. Money that came back of a payout has been held before. Asked with the account locked, the answer holds.
 */
export async function clearedMinor(query: Queries, earnings: Account, holdDays: number): Promise<bigint> {
  const available = availableMinor(earnings)
  if (available <= 0n) return 0n
  const held = await heldMinor(query, earnings.id, holdDays)
  return available > held ? available - held : 0n
}

/** An order's part counts by what is left of it: a refund within the hold frees nothing that was earned before. */
export async function heldMinor(query: Queries, earningsId: string, holdDays: number): Promise<bigint> {
  const since = sql<Date>`now() - ${holdDays} * interval '1 day'`
  const { rows } = await sql<{ held: string }>`
    with recent as materialized (
      select reference, sum(amount) as amount from ledger_transfers
      where credit_account_id = ${earningsId} and kind in ('posted', 'post') and code <> 'payout_returned'
        and created_at > ${since} group by reference
    ), gone as (
      select reference, sum(amount) as amount from ledger_transfers
      where debit_account_id = ${earningsId} and kind = 'posted' and created_at > ${since}
        and reference in (select reference from recent) group by reference
    )
    select coalesce(sum(greatest(recent.amount - coalesce(gone.amount, 0), 0)), 0)::text as held
    from recent left join gone using (reference)`.execute(query)
  return BigInt(rows[0].held)
}
