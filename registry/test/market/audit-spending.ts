import { sql } from 'kysely'
import type { Database } from '../../src/core/database/database.ts'
import { perRunMinor } from './spending.ts'
import { licensePrices } from './spending-market.ts'

/** What the spenders have agreed to, noted before each request; a superset of what was accepted. */
export type Agreements = {
  /** The highest price of each call, by its ID; undefined if only a cap confirms it. */
  calls: Map<string, number | undefined>
  /** The highest cap in force so far: of the account, of its token, and of the price of calls. */
  caps: { account: number; token: number; calls: number }
}

type Audited = {
  accountId: string
  tokenId: string
  quotaMinor: number
  /** Read after the snapshot was taken, so that all of it was agreed to before. */
  agreed: () => Agreements
}

/**
 * Compares what is promised to an account, as its calls, runs and orders say, with what is held and with what was
 * agreed. Plain SQL that shares no code with the services, on one snapshot: it holds at every moment. Expected result:
 * an empty list.
 */
export async function auditSpending(database: Database, audited: Audited): Promise<string[]> {
  return database.transaction(async (query) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(query)
    const findings: string[] = []
    await sql`select 1 from accounts limit 1`.execute(query)
    const agreed = audited.agreed()
    for (const [rule, broken] of Object.entries(rules(audited, agreed))) {
      const { rows } = await broken.execute(query)
      for (const row of rows) findings.push(`${rule}: ${JSON.stringify(row)}`)
    }
    const { rows: calls } = await sql<{ id: string; price: number }>`
      select id, price_minor as price from hosted_calls where account_id = ${audited.accountId} and price_minor > 0
      union select id, price_minor from usage_events
        where account_id = ${audited.accountId} and calls > trial_calls`.execute(query)
    for (const { id, price } of calls) {
      const most = agreed.calls.get(id) ?? agreed.caps.calls
      if (!agreed.calls.has(id) || price > most) findings.push(`a call costs what was agreed: ${id} ${price} > ${most}`)
    }
    return findings
  })
}

/** One query per rule, for what breaks it. */
function rules({ accountId, tokenId, quotaMinor }: Audited, agreed: Agreements) {
  const calls = sql`(calls - trial_calls)::numeric * price_minor`
  const spent = (whose: 'account' | 'token') => {
    const id = whose === 'account' ? accountId : tokenId
    const ofCalls = whose === 'account' ? sql`account_id = ${id}` : sql`token_id = ${id}`
    const answered = sql`coalesce((select sum(${calls}) from usage_events where ${ofCalls}), 0) / 1000`
    // An account pays for its calls in batches of whole units, and for what is carried over with the next ones.
    const ofAnswered =
      whose === 'token'
        ? answered
        : sql`coalesce((select sum(amount_minor) from usage_batches where ${ofCalls}), 0)
          + coalesce((select sum(${calls}) from usage_events where ${ofCalls} and batch_id is null), 0) / 1000`
    const ofRuns = whose === 'account' ? sql`owner_id = ${id}` : sql`training_runs.token_id = ${id}`
    const ofCharges = whose === 'account' ? sql`owner_id = ${id}` : sql`training_charges.token_id = ${id}`
    const ofOrders = whose === 'account' ? sql`buyer_id = ${id}` : sql`token_id = ${id}`
    return sql`select spent from (select
        coalesce((select sum(price_minor) from hosted_calls where state in ('waiting', 'leased') and ${ofCalls}), 0) / 1000
        + ${ofAnswered}
        + coalesce((select sum(held_minor) from training_runs where ${ofRuns}), 0)
        + coalesce((select sum(paid_minor) from training_charges
            join training_runs on training_runs.id = run_id where ${ofCharges}), 0)
        + coalesce((select sum(total_minor) from orders where ${ofOrders}
            and state not in ('cancelled', 'expired')), 0) as spent) spent
      where spent > ${agreed.caps[whose]}::numeric`
  }
  return {
    'nothing is spent twice, and nothing below zero': sql`
      select accounts.owner_id, accounts.code, sum(change) from ledger_accounts accounts join (
        select credit_account_id as id, amount as change from ledger_transfers where kind in ('posted', 'post')
        union all select debit_account_id, -amount from ledger_transfers where kind in ('posted', 'post')
        union all select debit_account_id, -amount from ledger_transfers
          join ledger_open_pendings on transfer_id = ledger_transfers.id) changes using (id)
      where accounts.owner_id is not null and accounts.code in ('balance', 'earnings')
      group by accounts.owner_id, accounts.code having sum(change) < 0`,
    'what calls come to is held': sql`
      select due.thousandths, coalesce(held_minor, 0) as held from (select sum(thousandths) as thousandths from (
          select price_minor::numeric as thousandths from hosted_calls
            where account_id = ${accountId} and state in ('waiting', 'leased')
          union all select ${calls} from usage_events where account_id = ${accountId} and batch_id is null
          union all select remainder from usage_batches batch where account_id = ${accountId} and seq = (
              select max(seq) from usage_batches last
              where last.account_id = batch.account_id and last.version_id = batch.version_id)
            and exists (select from usage_events open where open.account_id = batch.account_id
              and open.version_id = batch.version_id and open.batch_id is null)) parts) due
      left join call_holds on account_id = ${accountId}
      where due.thousandths > coalesce(held_minor, 0) * 1000`,
    'an account has what it was given, less what it has bought': sql`
      select * from (select
          (select sum(credits_posted - debits_posted)
            from ledger_accounts where owner_id = ${accountId}) as has,
          coalesce((select sum(amount) from ledger_transfers join ledger_accounts on ledger_accounts.id = credit_account_id
            where owner_id = ${accountId} and ledger_transfers.code in ('top_up', 'payment')), 0)
          - coalesce((select sum(total_minor - refunded_minor) from orders
              where buyer_id = ${accountId} and paid_at is not null), 0)
          - coalesce((select sum(paid_minor) from training_charges
              join training_runs on training_runs.id = run_id where owner_id = ${accountId}), 0)
          - coalesce((select sum(amount_minor) from usage_batches where account_id = ${accountId}), 0) as expected) sums
      where has is distinct from expected`,
    'the free quota is given once': sql`
      select free from (select
          coalesce((select sum(training_charges.free_minor) from training_charges
            join training_runs on training_runs.id = run_id where owner_id = ${accountId}
            and date_trunc('month', training_charges.created_at at time zone 'UTC')
              = date_trunc('month', now() at time zone 'UTC')), 0)
          + coalesce((select sum(free_minor) from training_runs where owner_id = ${accountId}), 0) as free) used
      where free > ${quotaMinor}::numeric`,
    'a run costs its budget at most': sql`
      select id, budget_minor, charged, held_minor, free_minor from training_runs
      left join lateral (select coalesce(sum(training_charges.free_minor + paid_minor), 0) as charged
        from training_charges where run_id = id) charges on true
      where owner_id = ${accountId} and charged + held_minor + free_minor > budget_minor`,
    'a license costs what was agreed': sql`
      select id, total_minor from orders where buyer_id = ${accountId} and total_minor <> all
        (case when run_id is null then ${sql.val(licensePrices)}::bigint[] else array[${perRunMinor}::bigint] end)`,
    'the account is within its cap': spent('account'),
    'the token is within its cap': spent('token'),
  }
}
