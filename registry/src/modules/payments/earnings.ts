import type { Earnings } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Services } from '../../core/services.ts'
import { findParty, type Party } from '../accounts/index.ts'
import { type Account, availableMinor, readOwnersAccounts } from '../ledger/index.ts'

/**
 * An account's total earnings. Fees and royalties are net of refunds, so that `sales + royalties earned − fees −
 * royalties paid − refunds − paid out` equals the account's earnings less what it owes.
 *
 * For admins of the account. Throws `unauthenticated`, `forbidden`, `account_not_found`.
 */
export async function showEarnings(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  account: string | undefined,
): Promise<Earnings> {
  const party = await findSeller(database.query, actor, account)
  const { currency } = config.training
  const { query } = database
  const accounts = (await readOwnersAccounts(query, party.id)).filter((one) => one.currency === currency)
  const earnings = accounts.find(({ code }) => code === 'earnings')
  const debt = accounts.find(({ code }) => code === 'debt')
  const { payoutHoldDays } = config.market
  const owed = debt === undefined ? 0n : debt.debitsPosted - debt.creditsPosted
  const cleared = earnings === undefined ? 0n : await clearedMinor(query, earnings, payoutHoldDays)
  const held = earnings === undefined ? 0n : await heldMinor(query, earnings.id, payoutHoldDays)
  const available = earnings === undefined ? 0n : availableMinor(earnings)
  return {
    account: party.username,
    currency,
    ...(await sumsOf(query, party.id, currency)),
    balance_minor: earnings === undefined ? 0 : Number(earnings.creditsPosted - earnings.debitsPosted),
    // Debts are deducted first.
    cleared_minor: Number(cleared > owed ? cleared - owed : 0n),
    held_minor: Number(held < available ? held : available),
    debt_minor: Number(owed),
  }
}

/** Finds the account whose earnings to show. Only its admins may see them. */
export function findSeller(query: Queries, actor: Actor | null, account: string | undefined): Promise<Party> {
  return findParty(query, actor, account, { permission: 'manage', scope: 'market:sell' })
}

type Sums = Pick<
  Earnings,
  'sales_minor' | 'fees_minor' | 'royalties_earned_minor' | 'royalties_paid_minor' | 'refunds_minor' | 'paid_out_minor'
>

/** From the orders, refunds, batches of calls and payouts themselves, because the ledger only has amounts. */
async function sumsOf(query: Queries, id: string, currency: string): Promise<Sums> {
  const sum = (column: string) =>
    sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(column.split('.').at(-1) ?? '')}`
  const sums = sql.join(['amount_minor', 'fee_minor', 'royalty_minor'].map(sum))
  const refunds = sql`select ${sql.join(['refunds.amount_minor', 'refunds.fee_minor', 'refunds.royalty_minor'].map(sum))}
    from refunds join orders on orders.id = refunds.order_id and orders.refunded_minor > 0`
  const { rows } = await sql<Sums>`
    select sold.total_minor + called.amount_minor + trained.paid_minor as sales_minor,
      sold.fee_minor + called.fee_minor - refunded.fee_minor as fees_minor,
      authored.royalty_minor + called_of_author.royalty_minor - refunded_of_author.royalty_minor as royalties_earned_minor,
      sold.royalty_minor + called.royalty_minor - refunded.royalty_minor as royalties_paid_minor,
      refunded.amount_minor as refunds_minor,
      paid_out.amount_minor - paid_out.returned_minor as paid_out_minor
    from
      (select ${sql.join(['total_minor', 'fee_minor', 'royalty_minor'].map(sum))} from orders
        where seller_id = ${id} and currency = ${currency} and paid_at is not null) sold,
      (select ${sum('royalty_minor')} from orders
        where royalty_to = ${id} and currency = ${currency} and paid_at is not null) authored,
      (${refunds} where seller_id = ${id} and currency = ${currency}) refunded,
      (${refunds} where royalty_to = ${id} and currency = ${currency}) refunded_of_author,
      (select ${sums} from usage_batches where seller_id = ${id} and currency = ${currency}) called,
      (select ${sums} from usage_batches where royalty_to = ${id} and currency = ${currency}) called_of_author,
      (select ${sum('paid_minor')} from training_charges where paid_to = ${id} and currency = ${currency}) trained,
      (select ${sql.join(['amount_minor', 'returned_minor'].map(sum))} from payouts
        where account_id = ${id} and currency = ${currency} and state = 'paid') paid_out`.execute(query)
  return rows[0]
}

/**
 * The amount of earnings that can be paid out now: the account's earnings, less income during the hold period that was
 * not refunded since. Returned payouts are not held again. Lock the account first, so that the result stays valid.
 */
export async function clearedMinor(query: Queries, earnings: Account, holdDays: number): Promise<bigint> {
  const available = availableMinor(earnings)
  if (available <= 0n) return 0n
  const held = await heldMinor(query, earnings.id, holdDays)
  return available > held ? available - held : 0n
}

/** An order counts net of refunds, so that a refund within the hold period does not release earlier earnings. */
async function heldMinor(query: Queries, earningsId: string, holdDays: number): Promise<bigint> {
  const since = sql<Date>`now() - ${holdDays} * interval '1 day'`
  // From the last transfer before, found from the end: transfers of a moment may have their positions in another order.
  const isRecent = (
    account: RawBuilder<unknown>,
  ) => sql`${account} = ${earningsId} and created_at > ${since} and position > coalesce((
    select position from ledger_transfers where ${account} = ${earningsId} and created_at < ${since} - interval '1 minute'
    order by position desc limit 1), 0)`
  const { rows } = await sql<{ held: string }>`
    with recent as materialized (
      select reference, sum(amount) as amount from ledger_transfers
      where ${isRecent(sql`credit_account_id`)} and kind in ('posted', 'post') and code <> 'payout_returned'
      group by reference
    ), gone as (
      select reference, sum(amount) as amount from ledger_transfers
      where ${isRecent(sql`debit_account_id`)} and kind = 'posted'
        and reference in (select reference from recent) group by reference
    )
    select coalesce(sum(greatest(recent.amount - coalesce(gone.amount, 0), 0)), 0)::text as held
    from recent left join gone using (reference)`.execute(query)
  return BigInt(rows[0].held)
}
