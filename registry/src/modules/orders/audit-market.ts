import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import { readSnapshot } from '../../core/database/read-snapshot.ts'

/** A violated rule of the market with its subject. See `auditLedger` for the ledger's own rules. */
export type MarketFinding = { rule: string; subject: string; detail: string }

/**
 * Checks orders, entitlements and refunds against each other and against the ledger: every license is paid for, every
 * paid order has its license, and every part of a price has been transferred to its recipient. Plain SQL that shares no
 * code with buying and refunding. Reads one snapshot of the database. Expected result: an empty list.
 */
export async function auditMarket(database: Database): Promise<MarketFinding[]> {
  return database.transaction(async (query) => {
    await readSnapshot(query)
    const findings: MarketFinding[] = []
    for (const [rule, broken] of Object.entries(rules)) findings.push(...(await find(query, rule, broken)))
    return findings
  })
}

async function find(query: Queries, rule: string, broken: string): Promise<MarketFinding[]> {
  const { rows } = await sql<{ subject: string; row: unknown }>`
    select broken.subject, to_json(broken) as row from (${sql.raw(broken)}) broken limit 100`.execute(query)
  return rows.map(({ subject, row }) => ({ rule, subject, detail: JSON.stringify(row) }))
}

/** Transferred amounts of each order, by purpose. */
const moved = `select reference as order_id,
    coalesce(sum(amount) filter (where code = 'sale'), 0)::bigint as sale,
    coalesce(sum(amount) filter (where code = 'fee'), 0)::bigint as fee,
    coalesce(sum(amount) filter (where code = 'royalty'), 0)::bigint as royalty,
    coalesce(sum(amount) filter (where code in ('refund', 'refund_fee', 'refund_royalty',
      'chargeback', 'chargeback_fee', 'chargeback_royalty')), 0)::bigint as reversed,
    coalesce(sum(amount) filter (where code in ('refund_fee', 'chargeback_fee')), 0)::bigint as reversed_fee,
    coalesce(sum(amount) filter (where code in ('refund_royalty', 'chargeback_royalty')), 0)::bigint as reversed_royalty
  from ledger_transfers where kind in ('posted', 'post') and reference is not null group by reference`

const given = `select order_id, sum(amount_minor)::bigint as amount, sum(fee_minor)::bigint as fee, sum(royalty_minor)::bigint as royalty
  from refunds group by order_id`

/** One query per rule, for the rows that break it. */
const rules = {
  'a paid order has transferred its parts, and no other has': `
    select orders.id as subject, orders.state, orders.total_minor, orders.fee_minor, orders.royalty_minor,
      moved.sale, moved.fee, moved.royalty
    from orders left join (${moved}) moved on moved.order_id = orders.id
    where (coalesce(moved.sale, 0), coalesce(moved.fee, 0), coalesce(moved.royalty, 0)) is distinct from
      case when orders.paid_at is null then (0::bigint, 0::bigint, 0::bigint)
        else (orders.total_minor - orders.fee_minor - orders.royalty_minor, orders.fee_minor, orders.royalty_minor) end`,
  'refunds have transferred back their parts': `
    select orders.id as subject, orders.refunded_minor, given.amount, given.fee, given.royalty, moved.reversed,
      moved.reversed_fee, moved.reversed_royalty
    from orders left join (${moved}) moved on moved.order_id = orders.id
    left join (${given}) given on given.order_id = orders.id
    where (orders.refunded_minor, coalesce(given.fee, 0), coalesce(given.royalty, 0)) is distinct from
        (coalesce(moved.reversed, 0), coalesce(moved.reversed_fee, 0), coalesce(moved.reversed_royalty, 0))
      or orders.refunded_minor <> coalesce(given.amount, 0)
      or given.fee > orders.fee_minor or given.royalty > orders.royalty_minor`,
  'a fully refunded order has ended with all parts transferred back, and no other has': `
    select orders.id as subject, orders.state, orders.total_minor, orders.refunded_minor
    from orders left join (${given}) given on given.order_id = orders.id
    where (orders.state in ('refunded', 'charged_back'))
        <> (orders.total_minor > 0 and orders.refunded_minor = orders.total_minor)
      or (orders.state in ('refunded', 'charged_back')
        and (given.fee, given.royalty) is distinct from (orders.fee_minor, orders.royalty_minor))`,
  'every paid order has an entitlement until it is fully refunded, and no other order has one': `
    select coalesce(orders.id, entitlements.order_id) as subject, orders.state, entitlements.granted_at,
      entitlements.revoked_at
    from orders full join entitlements on entitlements.order_id = orders.id
    where (entitlements.order_id is not null) is distinct from (orders.paid_at is not null and orders.run_id is null)
      or (entitlements.order_id is not null and ((entitlements.revoked_at is null) <> (orders.state = 'paid')
        or (entitlements.holder_id, entitlements.package_id, entitlements.major)
          <> (orders.buyer_id, orders.package_id, orders.major)))`,
  'money is held only for orders of runs that have not trained': `
    select orders.id as subject, orders.state, orders.total_minor, held.amount
    from orders full join (
      select reference as order_id, sum(amount) as amount from ledger_open_pendings
      join ledger_transfers on ledger_transfers.id = transfer_id and code in ('sale', 'fee', 'royalty')
      group by reference) held on held.order_id = orders.id
    where coalesce(held.amount, 0) <> case
      when orders.run_id is not null and orders.state = 'awaiting_payment' then orders.total_minor else 0 end`,
  'parts go from the buyer to the seller, the platform and the author': `
    select orders.id as subject, ledger_transfers.code, debit.owner_id as from_owner, debit.code as from_code,
      credit.owner_id as to_owner, credit.code as to_code
    from ledger_transfers join orders on orders.id = ledger_transfers.reference
    join ledger_accounts debit on debit.id = debit_account_id join ledger_accounts credit on credit.id = credit_account_id
    where (ledger_transfers.code in ('sale', 'fee', 'royalty') and (debit.owner_id, debit.code, credit.owner_id, credit.code)
        is distinct from (orders.buyer_id, 'balance',
          case ledger_transfers.code when 'sale' then orders.seller_id when 'royalty' then orders.royalty_to end,
          case ledger_transfers.code when 'fee' then 'fees' else 'earnings' end))
      or (ledger_transfers.code ~ '^(refund|chargeback)' and ((credit.owner_id, credit.code, debit.owner_id)
        is distinct from (orders.buyer_id, 'balance', case when ledger_transfers.code ~ '_fee$' then null
          when ledger_transfers.code ~ '_royalty$' then orders.royalty_to else orders.seller_id end)
        or debit.code <> all (case when ledger_transfers.code ~ '_fee$' then array['fees'] else array['earnings', 'debt'] end)))
      or ledger_transfers.currency <> orders.currency`,
  'a transfer of a sale belongs to an order or to a batch of calls': `
    select ledger_transfers.id as subject, ledger_transfers.code from ledger_transfers
    left join orders on orders.id = reference left join usage_batches on usage_batches.id = reference
    where ledger_transfers.code ~ '^(sale|fee|royalty|refund|chargeback)' and orders.id is null and usage_batches.id is null`,
  'a batch of calls has transferred its parts': `
    select usage_batches.id as subject, amount_minor, fee_minor, royalty_minor, moved.sale, moved.fee, moved.royalty
    from usage_batches left join (${moved}) moved on moved.order_id = usage_batches.id
    where (coalesce(moved.sale, 0), coalesce(moved.fee, 0), coalesce(moved.royalty, 0))
      is distinct from (amount_minor - fee_minor - royalty_minor, fee_minor, royalty_minor)`,
  'posted calls equal their batches plus the remainder': `
    select version_id as subject, account_id, posted.amount, posted.remainder, reported.thousandths
    from (select account_id, version_id, currency, sum(amount_minor) as amount, sum(calls) as calls,
        (array_agg(remainder order by seq desc))[1] as remainder
      from usage_batches group by account_id, version_id, currency) posted
    full join (select account_id, version_id, currency, sum((calls - trial_calls)::numeric * price_minor) as thousandths,
        sum(calls) as calls
      from usage_events where batch_id is not null group by account_id, version_id, currency) reported
      using (account_id, version_id, currency)
    where posted.amount * 1000 + posted.remainder is distinct from reported.thousandths or posted.calls is distinct from reported.calls`,
  'the hold for an account’s calls is the one in call_holds': `
    select coalesce(call_holds.account_id, held.account_id) as subject, call_holds.held_minor, held.amount, held.holds
    from (select account_id, currency, held_minor, transfer_id from call_holds where held_minor > 0) call_holds
    full join (select owner_id as account_id, ledger_transfers.currency, sum(amount) as amount, count(*) as holds,
        (array_agg(transfer_id))[1] as transfer_id
      from ledger_open_pendings join ledger_transfers on ledger_transfers.id = transfer_id and ledger_transfers.code = 'calls_hold'
      join ledger_accounts on ledger_accounts.id = debit_account_id and ledger_accounts.code = 'balance'
      group by owner_id, ledger_transfers.currency) held using (account_id, currency)
    where (call_holds.held_minor, call_holds.transfer_id, 1) is distinct from (held.amount, held.transfer_id, held.holds)`,
  'a run holds for its training what its row says': `
    select coalesce(runs.id, held.id) as subject, runs.held_minor, held.amount, held.holds
    from (select id, held_minor, hold_transfer_id from training_runs where held_minor > 0) runs
    full join (select reference as id, sum(amount) as amount, count(*) as holds, (array_agg(transfer_id))[1] as hold
      from ledger_open_pendings join ledger_transfers on ledger_transfers.id = transfer_id
        and ledger_transfers.code = 'training_hold'
      group by reference) held using (id)
    where (runs.held_minor, runs.hold_transfer_id, 1) is distinct from (held.amount, held.hold, held.holds)`,
  'what training was charged has been paid': `
    select coalesce(charged.id, paid.id) as subject, charged.paid, paid.amount
    from (select run_id as id, sum(paid_minor) as paid from training_charges where paid_minor > 0 group by run_id) charged
    full join (select reference as id, sum(amount) as amount from ledger_transfers
      where code = 'training' and kind = 'posted' group by reference) paid using (id)
    where charged.paid is distinct from paid.amount`,
  'nothing is ever posted to the counterpart of holds': `
    select id as subject, code, amount from ledger_transfers
    where kind in ('posted', 'post') and exists (select from ledger_accounts where ledger_accounts.code = 'holds'
      and ledger_accounts.id in (debit_account_id, credit_account_id))`,
  'a stored response is complete': `
    select key as subject, actor_id, action from idempotency_keys where status = 0`,
}
