import type { Migration } from './migration.ts'

const most = '1000000000000000'
const flags = (debits: boolean, credits: boolean, hot: boolean) =>
  `(debits_must_not_exceed_credits, credits_must_not_exceed_debits, hot) = (${debits}, ${credits}, ${hot})`
const sums = (entries: string) => `select account_id,
  sum(debits_posted)::bigint as debits_posted, sum(credits_posted)::bigint as credits_posted,
  sum(debits_pending)::bigint as debits_pending, sum(credits_pending)::bigint as credits_pending
  from ${entries} group by account_id`
const added = `update ledger_accounts account set
  debits_posted = account.debits_posted + sums.debits_posted,
  credits_posted = account.credits_posted + sums.credits_posted,
  debits_pending = account.debits_pending + sums.debits_pending,
  credits_pending = account.credits_pending + sums.credits_pending
  where id = sums.account_id`
/** Called by our own trigger, not by a client's statement. */
const fromWithin = 'pg_trigger_depth() > 0'

/**
 * The ledger. `ledger_transfers` is all there is to know; the other tables are sums of it, which only triggers may
 * write (decision 13). Amounts are minor units.
 */
export const ledger: Migration = {
  name: '0007-ledger',
  statements: [
    `create table ledger_accounts (
      id uuid constraint ledger_accounts_pkey primary key default gen_random_uuid(),
      owner_id uuid constraint ledger_accounts_owner_id_fkey references accounts (id),
      code text not null,
      currency text not null constraint ledger_accounts_currency_check check (currency ~ '^[A-Z]{3}$'),
      debits_must_not_exceed_credits boolean not null,
      credits_must_not_exceed_debits boolean not null,
      hot boolean not null,
      debits_posted bigint not null default 0 constraint ledger_accounts_debits_posted_check check (debits_posted >= 0),
      credits_posted bigint not null default 0 constraint ledger_accounts_credits_posted_check check (credits_posted >= 0),
      debits_pending bigint not null default 0 constraint ledger_accounts_debits_pending_check check (debits_pending >= 0),
      credits_pending bigint not null default 0
        constraint ledger_accounts_credits_pending_check check (credits_pending >= 0),
      created_at timestamptz(3) not null default now(),
      constraint ledger_accounts_owner_code_currency_key unique nulls not distinct (owner_id, code, currency),
      constraint ledger_accounts_id_currency_key unique (id, currency),
      constraint ledger_accounts_chart_check check (case
        when code in ('balance', 'earnings') then owner_id is not null and ${flags(true, false, false)}
        when code = 'debt' then owner_id is not null and ${flags(false, true, false)}
        when code in ('fees', 'provider', 'losses') then owner_id is null and ${flags(false, false, true)}
        when code = 'payouts' then owner_id is null and ${flags(false, false, false)}
        else false end),
      constraint ledger_accounts_hot_check
        check (not hot or not (debits_must_not_exceed_credits or credits_must_not_exceed_debits)),
      constraint ledger_accounts_debits_limit
        check (not debits_must_not_exceed_credits or debits_posted + debits_pending <= credits_posted),
      constraint ledger_accounts_credits_limit
        check (not credits_must_not_exceed_debits or credits_posted + credits_pending <= debits_posted)
    ) with (fillfactor = 80)`,
    `create table ledger_transfers (
      id uuid constraint ledger_transfers_pkey primary key,
      position bigint generated always as identity constraint ledger_transfers_position_key unique,
      kind text not null constraint ledger_transfers_kind_check check (kind in ('posted', 'pending', 'post', 'void')),
      debit_account_id uuid not null,
      credit_account_id uuid not null,
      amount bigint not null constraint ledger_transfers_amount_check check (amount between 1 and ${most}),
      currency text not null,
      pending_id uuid constraint ledger_transfers_pending_id_fkey references ledger_transfers (id),
      code text not null constraint ledger_transfers_code_check check (code ~ '^[a-z][a-z_]{0,39}$'),
      reference uuid,
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default clock_timestamp(),
      constraint ledger_transfers_debit_account_fkey
        foreign key (debit_account_id, currency) references ledger_accounts (id, currency),
      constraint ledger_transfers_credit_account_fkey
        foreign key (credit_account_id, currency) references ledger_accounts (id, currency),
      constraint ledger_transfers_accounts_check check (debit_account_id <> credit_account_id),
      constraint ledger_transfers_pending_check check ((kind in ('post', 'void')) = (pending_id is not null)),
      constraint ledger_transfers_expires_at_check check (expires_at is null or kind = 'pending')
    )`,
    'create index ledger_transfers_debit_account_idx on ledger_transfers (debit_account_id, position)',
    'create index ledger_transfers_credit_account_idx on ledger_transfers (credit_account_id, position)',
    // A hold ends once.
    'create unique index ledger_transfers_pending_id_key on ledger_transfers (pending_id) where pending_id is not null',
    'create index ledger_transfers_reference_idx on ledger_transfers (reference) where reference is not null',
    // What is not yet in the row of a hot account: signed changes. Deleting them adds them to it.
    `create table ledger_hot_entries (
      position bigint generated always as identity constraint ledger_hot_entries_pkey primary key,
      account_id uuid not null,
      debits_posted bigint not null,
      credits_posted bigint not null,
      debits_pending bigint not null,
      credits_pending bigint not null
    )`,
    'create index ledger_hot_entries_account_idx on ledger_hot_entries (account_id, position)',
    // Pendings that are neither posted nor voided.
    `create table ledger_open_pendings (
      transfer_id uuid constraint ledger_open_pendings_pkey primary key,
      expires_at timestamptz(3)
    )`,
    'create index ledger_open_pendings_expires_at_idx on ledger_open_pendings (expires_at) where expires_at is not null',
    // Row by row, each by its key: a plan for many rows would read whole tables for the few that there are.
    `create function ledger_apply() returns trigger language plpgsql as $$
      declare
        added ledger_transfers;
        held ledger_transfers;
        sums record;
      begin
        for added in select * from inserted where kind <> 'posted' order by position loop
          if added.kind = 'pending' then
            insert into ledger_open_pendings values (added.id, added.expires_at);
          else
            select * into held from ledger_transfers where id = added.pending_id;
            if held.kind is distinct from 'pending'
              or (held.debit_account_id, held.credit_account_id, held.currency)
                <> (added.debit_account_id, added.credit_account_id, added.currency)
              or added.amount > held.amount
              or (added.kind = 'void' and added.amount <> held.amount)
              or (added.kind = 'post' and added.created_at >= held.expires_at)
            then
              raise exception 'transfer % does not fit the pending one that it ends', added.id
                using errcode = 'check_violation', table = 'ledger_transfers', constraint = 'ledger_transfers_resolution';
            end if;
            delete from ledger_open_pendings where transfer_id = added.pending_id;
          end if;
        end loop;
        for sums in
          with changes as (
            select debit_account_id, credit_account_id,
              case when kind in ('posted', 'post') then amount else 0 end as posted,
              case kind when 'posted' then 0 when 'pending' then amount
                else -(select hold.amount from ledger_transfers hold where hold.id = inserted.pending_id) end as pending
            from inserted
          ), legs as (
            select debit_account_id as account_id, posted as debits_posted, 0 as credits_posted,
              pending as debits_pending, 0 as credits_pending from changes
            union all select credit_account_id, 0, posted, 0, pending from changes
          )
          ${sums('legs')} order by account_id
        loop
          ${added} and not hot;
          if not found then
            insert into ledger_hot_entries (account_id, debits_posted, credits_posted, debits_pending, credits_pending)
            values (sums.account_id, sums.debits_posted, sums.credits_posted, sums.debits_pending, sums.credits_pending);
          end if;
        end loop;
        return null;
      end $$`,
    `create trigger ledger_transfers_apply after insert on ledger_transfers referencing new table as inserted
      for each statement execute function ledger_apply()`,
    `create function ledger_fold() returns trigger language plpgsql as $$
      declare sums record;
      begin
        for sums in ${sums('deleted')} order by account_id loop
          ${added};
        end loop;
        return null;
      end $$`,
    `create trigger ledger_hot_entries_fold after delete on ledger_hot_entries referencing old table as deleted
      for each statement execute function ledger_fold()`,
    ...refused('ledger_transfers', 'a transfer is never changed: another one reverses it', 'update', 'delete'),
    ...refused('ledger_accounts', 'an account of the ledger is kept', 'delete'),
    `create trigger ledger_accounts_fixed before update on ledger_accounts for each row
      when (not (${fromWithin}) or (old.id, old.owner_id, old.code, old.currency, old.debits_must_not_exceed_credits,
          old.credits_must_not_exceed_debits, old.hot, old.created_at)
        is distinct from (new.id, new.owner_id, new.code, new.currency, new.debits_must_not_exceed_credits,
          new.credits_must_not_exceed_debits, new.hot, new.created_at))
      execute function refuse('only transfers change what an account holds')`,
    `create trigger ledger_accounts_empty before insert on ledger_accounts for each row
      when (new.debits_posted <> 0 or new.credits_posted <> 0 or new.debits_pending <> 0 or new.credits_pending <> 0)
      execute function refuse('an account begins empty')`,
    ...refused('ledger_hot_entries', 'entries of hot accounts come from transfers', 'update'),
    `create trigger ledger_hot_entries_from_transfers before insert on ledger_hot_entries for each row
      when (not (${fromWithin})) execute function refuse('entries of hot accounts come from transfers')`,
    ...refused('ledger_open_pendings', 'a pending transfer ends by another one', 'update'),
    `create trigger ledger_open_pendings_from_transfers before insert or delete on ledger_open_pendings for each row
      when (not (${fromWithin})) execute function refuse('a pending transfer ends by another one')`,
  ],
}

function refused(table: string, why: string, ...operations: string[]): string[] {
  return [
    `create trigger ${table}_kept before ${operations.join(' or ')} on ${table}
      for each row execute function refuse('${why}')`,
    `create trigger ${table}_kept_truncate before truncate on ${table}
      for each statement execute function refuse('${why}')`,
  ]
}
