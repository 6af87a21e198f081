import type { Migration } from './migration.ts'

const sums = ['debits_posted', 'credits_posted', 'debits_pending', 'credits_pending']
const sameAccount = (side: string) =>
  `exists (select from ledger_accounts where id = added.${side}_account_id and currency = added.currency)`

/**
 * What transfers do to accounts, in one statement in place of one an account: PostgreSQL reads a table's checks anew for each
 * statement, and `ledger_accounts` has nine. The settings keep the plan to keys, in the order of the ids.
 *
 * The two foreign keys go. They locked both accounts' rows for each transfer, the hot one's, which everybody's transfers name,
 * too. What they held the trigger now holds, under their names: that there is such an account in that currency. The other side
 * of it holds anyway: an account is never deleted (`ledger_accounts_kept`), and never changes id or currency
 * (`ledger_accounts_fixed`).
 */
export const ledgerSpeed: Migration = {
  name: '0013-ledger-speed',
  statements: [
    `create or replace function ledger_apply() returns trigger language plpgsql
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare
        added ledger_transfers;
        held ledger_transfers;
        complete boolean;
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
        with changes as (
          select debit_account_id, credit_account_id, currency,
            case when kind in ('posted', 'post') then amount else 0 end as posted,
            case kind when 'posted' then 0 when 'pending' then amount
              else -(select hold.amount from ledger_transfers hold where hold.id = inserted.pending_id) end as pending
          from inserted
        ), legs as (
          select debit_account_id as account_id, currency, posted as debits_posted, 0 as credits_posted,
            pending as debits_pending, 0 as credits_pending from changes
          union all select credit_account_id, currency, 0, posted, 0, pending from changes
        ), sums as materialized (
          select account_id, currency, ${sums.map((sum) => `sum(${sum})::bigint as ${sum}`).join(', ')}
          from legs group by account_id, currency order by account_id
        ), updated as (
          update ledger_accounts account set ${sums.map((sum) => `${sum} = account.${sum} + sums.${sum}`).join(', ')}
          from sums where account.id = sums.account_id and account.currency = sums.currency and not account.hot
          returning 1
        ), noted as (
          insert into ledger_hot_entries (account_id, ${sums.join(', ')})
          select account_id, ${sums.map((sum) => `sums.${sum}`).join(', ')}
          from sums join ledger_accounts account on account.id = sums.account_id and account.currency = sums.currency
          where account.hot
          returning 1
        )
        select (select count(*) from updated) + (select count(*) from noted) = (select count(*) from sums) into complete;
        if not complete then
          for added in select * from inserted order by position loop
            if not ${sameAccount('debit')} then
              raise exception 'transfer % is of an account that is not there', added.id using errcode = 'foreign_key_violation',
                table = 'ledger_transfers', constraint = 'ledger_transfers_debit_account_fkey';
            elsif not ${sameAccount('credit')} then
              raise exception 'transfer % is of an account that is not there', added.id using errcode = 'foreign_key_violation',
                table = 'ledger_transfers', constraint = 'ledger_transfers_credit_account_fkey';
            end if;
          end loop;
          raise exception 'the accounts of transfers are not what they were';
        end if;
        return null;
      end $$`,
    'alter table ledger_transfers drop constraint ledger_transfers_debit_account_fkey',
    'alter table ledger_transfers drop constraint ledger_transfers_credit_account_fkey',
  ],
}
