import {
  currencyDigits,
  type EarningsDays,
  type EarningsEntry,
  type earningsDaysRequestSchema,
  type earningsEntriesRequestSchema,
  type earningsEntriesSchema,
} from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import type { z } from 'zod'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { type PageEnd, readPage } from '../../core/database/page-cursor.ts'
import { csvLine } from '../../core/http/csv.ts'
import type { Services } from '../../core/services.ts'
import { findSeller } from './earnings.ts'

type Row = Omit<EarningsEntry, 'at'> & { at: Date }

/**
 * One page of incoming and outgoing amounts, newest first. Throws `unauthenticated`, `forbidden`, `account_not_found`.
 */
export async function listEarnings(
  { database, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  { account, cursor, limit }: z.output<typeof earningsEntriesRequestSchema>,
): Promise<z.infer<typeof earningsEntriesSchema>> {
  const { id } = await findSeller(database.query, actor, account)
  const listKey = JSON.stringify(['earnings', id])
  const { rows, next_cursor } = await readPage({ secret: config.secret, listKey, cursor, limit, endOf }, (range) =>
    entriesOf(database.query, { id, ...range }),
  )
  return {
    entries: rows.map(entryOf),
    next_cursor,
  }
}

const entryOf = (row: Row): EarningsEntry => ({ ...row, at: row.at.toISOString() })
const endOf = ({ at, id }: Pick<Row, 'at' | 'id'>): PageEnd => ({ key: at.getTime(), id })

const PAGE = 1_000

/** All entries, page by page. */
export async function* allEarnings(query: Queries, id: string): AsyncGenerator<EarningsEntry> {
  let after: PageEnd | null = null
  for (;;) {
    const rows: Row[] = await entriesOf(query, { id, after, limit: PAGE })
    for (const row of rows) yield entryOf(row)
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined) return
    after = endOf(last)
  }
}

/** An ID for the other side of an entry: a UUID (version 8) from the digest of its ID. */
const other = (side: string, id: string) =>
  sql`overlay(overlay(md5(${side} || ${sql.ref(id)}::text) placing '8' from 13) placing '8' from 17)::uuid`
/** Sale and royalty of one item never belong to the same account, so both use its ID. */
const columns = sql`id, at, kind, package_id, "order", gross_minor, fee_minor, royalty_minor, net_minor, currency`

/**
 * Entries of sales, royalties, refunds, batches of calls, training, payouts, and changes in debts. Their net amounts
 * sum to the account's earnings less its debt.
 */
async function entriesOf(
  query: Queries,
  { id, after, limit }: { id: string; after: PageEnd | null; limit: number },
): Promise<Row[]> {
  const pageOf = (at: RawBuilder<unknown>) => {
    const before =
      after === null ? sql`true` : sql`(${at}, id) < (${new Date(after.key)}::timestamptz, ${after.id}::uuid)`
    return sql`${before} order by ${at} desc, id desc limit ${limit}`
  }
  const { rows } = await sql<Row>`
    select entry.id, entry.at, entry.kind, packages.name as package, entry."order", entry.gross_minor::bigint,
      entry.fee_minor::bigint, entry.royalty_minor::bigint, entry.net_minor::bigint, entry.currency
    from (
      select ${columns} from ${everyEntry(id, pageOf)} where ${pageOf(sql`at`)}
    ) entry left join packages on packages.id = entry.package_id
    order by entry.at desc, entry.id desc`.execute(query)
  return rows
}

/** A condition on rows of a source, and the order and number of those that are read, by the column with their time. */
type Part = (at: RawBuilder<unknown>) => RawBuilder<unknown>

/** Entries of an account, as a table to select from. Of orders and batches, which are many, only `part`. */
const everyEntry = (
  id: string,
  part: Part = () => sql`true`,
) => sql`(${sales(id, part)} union all ${givenBack(id)} union all ${calls(id, part)} union all ${training(id)}
  union all ${payouts(id)} union all ${debts(id)}) as entries (${columns})`

const sales = (id: string, part: Part) => sql`
  (select id, paid_at, 'sale', package_id, id, total_minor, -fee_minor, -royalty_minor,
    total_minor - fee_minor - royalty_minor, currency
  from orders where seller_id = ${id} and paid_at is not null and total_minor > 0 and ${part(sql`paid_at`)})
  union all
  (select id, paid_at, 'royalty', package_id, id, 0, 0, royalty_minor, royalty_minor, currency
  from orders where royalty_to = ${id} and paid_at is not null and ${part(sql`paid_at`)})`

const givenBack = (id: string) => sql`
  select refunds.id, refunds.created_at, refunds.kind, package_id, order_id, -amount_minor, refunds.fee_minor,
    refunds.royalty_minor, refunds.fee_minor + refunds.royalty_minor - amount_minor, currency
  from refunds join orders on orders.id = order_id where seller_id = ${id} and refunded_minor > 0
  union all
  select refunds.id, refunds.created_at, refunds.kind, package_id, order_id, 0, 0, -refunds.royalty_minor,
    -refunds.royalty_minor, currency
  from refunds join orders on orders.id = order_id where royalty_to = ${id} and refunded_minor > 0
    and refunds.royalty_minor > 0`

const calls = (id: string, part: Part) => sql`
  (select id, created_at, 'calls', package_id, null::uuid, amount_minor, -fee_minor, -royalty_minor,
    amount_minor - fee_minor - royalty_minor, currency
  from usage_batches where seller_id = ${id} and amount_minor > 0 and ${part(sql`created_at`)})
  union all
  (select id, created_at, 'royalty', package_id, null::uuid, 0, 0, royalty_minor, royalty_minor, currency
  from usage_batches where royalty_to = ${id} and royalty_minor > 0 and ${part(sql`created_at`)})`

const training = (id: string) => sql`
  select overlay(overlay(md5('training' || run_id::text || resumption::text) placing '8' from 13) placing '8' from 17)::uuid,
    created_at, 'training', null::uuid, null::uuid, paid_minor, 0, 0, paid_minor, currency
  from training_charges where paid_to = ${id} and paid_minor > 0`

const payouts = (id: string) => sql`
  select id, created_at, 'payout', null, null, 0, 0, 0, -amount_minor, currency
  from payouts where account_id = ${id}
  union all
  select ${other('returned', 'id')}, ended_at, 'payout_returned', null, null, 0, 0, 0,
    case state when 'failed' then amount_minor else returned_minor end, currency
  from payouts where account_id = ${id} and (state = 'failed' or returned_minor > 0)`

/**
 * Changes of debts against the balance: repayments from it, and debts from reversed payments. Repayments from earnings
 * do not change the total.
 */
const debts = (id: string) => sql`
  select transfer.id, transfer.created_at, 'debt_repaid', null::uuid, null::uuid, 0, 0, 0, transfer.amount, transfer.currency
  from ledger_transfers transfer
  join ledger_accounts debt on debt.id = transfer.credit_account_id and debt.owner_id = ${id} and debt.code = 'debt'
  join ledger_accounts source on source.id = transfer.debit_account_id and source.code <> 'earnings'
  union all
  select transfer.id, transfer.created_at, 'chargeback', null, null, 0, 0, 0, -transfer.amount, transfer.currency
  from ledger_transfers transfer
  join ledger_accounts source on source.id = transfer.debit_account_id and source.owner_id = ${id}
    and source.code in ('earnings', 'debt')
  where transfer.code = 'take_back'`

type Day = EarningsDays['days'][number]

/**
 * An account's earnings on each of the last days, from the entries. For admins of the account. Throws
 * `unauthenticated`, `forbidden`, `account_not_found`.
 */
export async function earningsByDay(
  { database: { query }, config }: Pick<Services, 'database' | 'config'>,
  actor: Actor | null,
  { account, days }: z.output<typeof earningsDaysRequestSchema>,
): Promise<EarningsDays> {
  const { id, username } = await findSeller(query, actor, account)
  const { currency } = config.training
  const today = sql`date_trunc('day', now() at time zone 'UTC')`
  const first = sql`${today} - ${days - 1} * interval '1 day'`
  const { rows } = await sql<Day>`
    select to_char(day, 'YYYY-MM-DD') as day, coalesce(orders, 0)::bigint as orders,
      coalesce(sales_minor, 0)::bigint as sales_minor, coalesce(net_minor, 0)::bigint as net_minor
    from generate_series(${first}, ${today}, interval '1 day') as day
    left join (
      select date_trunc('day', at at time zone 'UTC') as day, count(*) filter (where kind = 'sale') as orders,
        sum(gross_minor) filter (where kind in ('sale', 'calls', 'training')) as sales_minor,
        sum(net_minor) filter (where kind in ('sale', 'royalty', 'calls', 'training', 'refund', 'chargeback')) as net_minor
      from ${everyEntry(id)}
      where at >= (${first}) at time zone 'UTC' and currency = ${currency}
      group by 1
    ) earned using (day)
    order by day`.execute(query)
  return { account: username, currency, days: rows }
}

const csvColumns = ['at', 'kind', 'package', 'order', 'gross', 'fee', 'royalty', 'net', 'currency'] as const

/** Earnings as CSV with a header, one line per entry, amounts in the currency's units. */
export async function* earningsCsv(entries: AsyncIterable<EarningsEntry>): AsyncGenerator<string> {
  yield csvLine(csvColumns)
  for await (const entry of entries) {
    const amount = (minor: number) => ({ decimal: decimal(minor, currencyDigits(entry.currency)) })
    yield csvLine([
      entry.at,
      entry.kind,
      entry.package,
      entry.order,
      amount(entry.gross_minor),
      amount(entry.fee_minor),
      amount(entry.royalty_minor),
      amount(entry.net_minor),
      entry.currency,
    ])
  }
}

/** Digit by digit: `-0.05`. */
function decimal(minor: number, digits: number): string {
  const units = String(Math.abs(minor)).padStart(digits + 1, '0')
  const cut = units.length - digits
  return `${minor < 0 ? '-' : ''}${units.slice(0, cut)}${digits === 0 ? '' : `.${units.slice(cut)}`}`
}
