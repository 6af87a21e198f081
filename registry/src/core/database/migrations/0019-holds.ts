import type { Migration } from './migration.ts'

const flags = (debits: boolean, credits: boolean, hot: boolean) =>
  `(debits_must_not_exceed_credits, credits_must_not_exceed_debits, hot) = (${debits}, ${credits}, ${hot})`

/** Money that is promised for hosted calls is held; usage and spend caps have a currency. */
export const holds: Migration = {
  name: '0019-holds',
  statements: [
    // The counterpart of holds whose parts are decided when they are settled: nothing is ever posted to it.
    'alter table ledger_accounts drop constraint ledger_accounts_chart_check',
    `alter table ledger_accounts add constraint ledger_accounts_chart_check check (case
      when code in ('balance', 'earnings') then owner_id is not null and ${flags(true, false, false)}
      when code = 'debt' then owner_id is not null and ${flags(false, true, false)}
      when code in ('fees', 'provider', 'losses', 'holds') then owner_id is null and ${flags(false, false, true)}
      when code = 'payouts' then owner_id is null and ${flags(false, false, false)}
      else false end)`,
    // What a balance holds for the hosted calls of its account: calls in progress, and answered ones not posted yet.
    `create table call_holds (
      account_id uuid not null constraint call_holds_account_id_fkey references accounts (id),
      currency text not null constraint call_holds_currency_check check (currency ~ '^[A-Z]{3}$'),
      held_minor bigint not null default 0 constraint call_holds_held_minor_check check (held_minor >= 0),
      transfer_id uuid constraint call_holds_transfer_id_fkey references ledger_transfers (id),
      free_thousandths bigint not null default 0
        constraint call_holds_free_thousandths_check check (free_thousandths between 0 and held_minor::numeric * 1000),
      changed_at timestamptz(3) not null default now(),
      constraint call_holds_pkey primary key (account_id, currency),
      constraint call_holds_transfer_check check ((held_minor = 0) = (transfer_id is null))
    )`,
    // Null: from before this column, in the currency of the installation.
    'alter table spend_caps add column currency text',
    'alter table hosted_calls add column currency text',
    'alter table usage_events add column currency text',
    'drop trigger usage_events_fixed on usage_events',
    `update usage_events set currency = usage_batches.currency from usage_batches
      where usage_batches.id = usage_events.batch_id`,
    `create trigger usage_events_fixed before update on usage_events for each row
      when (old.batch_id is not null or (old.id, old.account_id, old.package_id, old.version_id, old.calls, old.price_minor, old.at)
        is distinct from (new.id, new.account_id, new.package_id, new.version_id, new.calls, new.price_minor, new.at)
        or (old.currency is not null and old.currency is distinct from new.currency))
      execute function refuse('what was counted is never changed')`,
  ],
}
