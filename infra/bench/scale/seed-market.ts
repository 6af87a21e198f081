import { type Database, syntheticAgentManifest } from '@agentgym/registry/benchmarks'
import { picked, type Scale, share } from './seed-catalog.ts'

const callsInBatch = 1_000
/** Everybody's, once. */
const topUpMinor = 100_000_000
/** Of the curve of a run, and the number of its last event. */
const points = 100
const lastSeq = points + 3

/** Users who buy, train and call, the first ones most; `seed.people` and `seed.offers` number them and what is for sale. */
export async function seedPeople(database: Database, { orders }: Scale): Promise<void> {
  const steps = [
    `create unlogged table seed.people as select n, gen_random_uuid() as id from generate_series(1, ${orders / 10}) as n`,
    'create unique index on seed.people (n)',
    `insert into accounts (id, kind, username, username_canonical, email, email_verified_at)
      select id, 'user', 'seed-' || n, 'seed-' || n, 'seed-' || n || '@example.org', now() from seed.people`,
    `create unlogged table seed.offers as
      select row_number() over (order by offered.n)::int as n, offered.id, offered.owner_id, offered.version_id, offered.price_minor,
        prices.id as price_id, case when offered.kind = 'agent' and scenario.owner_id <> offered.owner_id then scenario.owner_id end as royalty_to
      from seed.packages offered join prices on prices.package_id = offered.id
      left join seed.packages scenario on scenario.name = offered.trained_on`,
    'create unique index on seed.offers (n)',
  ]
  for (const step of steps) await database.execute(step)
}

const point = {
  ...{
    event: 'progress',
    steps_total: points * 2_048,
    steps_per_second: 50_000,
    collect_seconds: 0.6,
    update_seconds: 0.4,
  },
  ...{ episodes: 10, episodes_total: 10, length_mean: 200, metrics: {} },
  learner: {
    ...{ policy_loss: -0.01, value_loss: 12.5, entropy: 0.61, approximate_kl: 0.004, clip_fraction: 0.08 },
    ...{
      explained_variance: 0.7,
      kl_to_reference: null,
      zero_variance_groups: null,
      gradient_norm: 0.4,
      learning_rate: 0.0003,
    },
  },
}

/**
 * Runs over a year, of which one of a hundred waits: events of all, the curve of those that ended today. For a connection that
 * skips triggers.
 */
export async function seedRuns(database: Database, { runs }: Scale): Promise<void> {
  const steps = [
    `create unlogged table seed.runs as
      select n, gen_random_uuid() as id,
        case when n % 100 = 0 then 'queued' when n % 20 = 1 then 'failed' when n % 20 = 2 then 'cancelled' else 'completed' end as state,
        now() - case when n % 100 = 0 then interval '2 hours' else interval '365 days' end * ${share('n', 5)} as at,
        ${picked('n', 6, '(select max(n) from seed.people) / 10', 2)} as person, ${picked('n', 7, '(select max(n) from seed.packages)', 3)} as package
      from generate_series(1, ${runs}) as n`,
    `insert into training_runs (id, owner_id, created_by, scenario_version_id, algorithm, settings, seed, request_hash, state, attempt,
        worker_name, last_seq, agent_object_key, agent_integrity, agent_size, created_at, started_at, ended_at)
      select seed.runs.id, person.id, person.id, package.version_id, 'ppo', '{"steps": 100000}', 1, '', state, 1, 'seed',
        case when state = 'queued' then 1 else ${lastSeq} end,
        case when state = 'completed' then 'sha256/' || encode(sha256(seed.runs.id::text::bytea), 'hex') end,
        case when state = 'completed' then 'sha512-' end, case when state = 'completed' then 20000 end,
        at, case when state <> 'queued' then at end, case when state <> 'queued' then at + interval '1 hour' * ${share('seed.runs.n', 8)} end
      from seed.runs join seed.people person on person.n = seed.runs.person join seed.packages package on package.n = seed.runs.package`,
    `insert into run_events (run_id, seq, at, type, data)
      select seed.runs.id, seq, at, type, data from seed.runs cross join (values
        (1, 'queued', '{"reason": "submitted", "message": null}'::jsonb),
        (2, 'running', '{"attempt": 1, "worker": "seed", "price_minor_per_hour": 0, "from_iteration": 0}'),
        (${lastSeq}, 'completed', '${JSON.stringify({ steps: points * 2_048, seconds: points, evaluation: syntheticAgentManifest.evaluation })}'),
        (${lastSeq}, 'failed', '{"error": {"code": "scenario_crashed", "message": "The scenario crashed."}}'),
        (${lastSeq}, 'cancelled', '{}')) as event (seq, type, data)
      where seq = 1 or (seq = 2 and state <> 'queued') or type = state`,
    `insert into jobs (kind, id, account_id, created_at) select 'train', id, created_by, created_at from training_runs where state = 'queued'`,
    `insert into training_metrics (run_id, iteration, seq, at, data)
      select id, point, 2 + point, at, '${JSON.stringify(point)}'::jsonb || jsonb_build_object('iteration', point, 'steps', point * 2048,
        'return_mean', point, 'seconds', point)
      from seed.runs cross join generate_series(1, ${points}) as point where state = 'completed' and at > now() - interval '1 day'`,
  ]
  for (const step of steps) await database.execute(step)
}

/**
 * Orders over a year, popular packages and few buyers most, each with license, audit entry and transfers as buying makes them; a
 * review of one of twenty. For a connection that skips triggers; `seedBalances` then sums up the accounts of the ledger.
 */
export async function seedOrders(database: Database, { orders }: Scale): Promise<void> {
  const steps = [
    `create unlogged table seed.orders as
      select row_number() over ()::int as n, gen_random_uuid() as id, drawn.* from (
        select distinct ${picked('draw', 9, '(select max(n) from seed.people)', 2)} as person,
          ${picked('draw', 10, '(select max(n) from seed.offers)', 2)} as offer
        from generate_series(1, 2 * ${orders}) as draw) drawn
      limit ${orders}`,
    `insert into orders (id, state, buyer_id, placed_by, seller_id, package_id, version_id, major, price_id, price_kind, total_minor,
        fee_minor, royalty_minor, royalty_to, currency, pay_with, created_at, paid_at, source)
      select seed.orders.id, 'paid', person.id, person.id, offer.owner_id, offer.id, offer.version_id, 1, offer.price_id, 'one_time',
        offer.price_minor, offer.price_minor / 10, case when royalty_to is null then 0 else offer.price_minor / 20 end,
        case when offer.price_minor >= 20 then royalty_to end, 'USD', 'balance', moment.at, moment.at, 'browse'
      from seed.orders join seed.people person on person.n = seed.orders.person join seed.offers offer on offer.n = seed.orders.offer
      cross join lateral (select now() - interval '365 days' * ${share('seed.orders.n', 11)} as at) moment
      order by moment.at`,
    `insert into entitlements (order_id, holder_id, package_id, major, granted_at)
      select id, buyer_id, package_id, major, paid_at from orders`,
    `insert into audit (at, actor_id, action, subject, ip, data)
      select created_at, placed_by, 'order.place', 'order:' || id, '127.0.0.1', jsonb_build_object('total_minor', total_minor, 'currency', currency)
      from orders order by created_at`,
    `insert into reviews (package_id, version_id, author_id, stars, text)
      select package_id, version_id, buyer_id, 1 + (seed.orders.n % 5), 'As described.'
      from orders join seed.orders using (id) where seed.orders.n % 20 = 0`,
    `insert into package_users (account_id, package_id) select buyer_id, package_id from orders on conflict do nothing`,
    ...openAccounts,
    `insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, code, created_at)
      select gen_random_uuid(), 'posted', provider.id, balance.id, ${topUpMinor}, 'USD', 'top_up', now() - interval '400 days'
      from seed.people person join ledger_accounts balance on balance.owner_id = person.id and balance.code = 'balance'
      join ledger_accounts provider on provider.code = 'provider'`,
    partTransfers('orders', { buyer: 'buyer_id', total: 'total_minor', at: 'paid_at' }),
  ]
  for (const step of steps) await database.execute(step)
}

/**
 * Calls in batches of a thousand that are posted, and one of a thousand calls that waits to be: few callers and few agents have most.
 * For a connection that skips triggers.
 */
export async function seedCalls(database: Database, { calls }: Scale): Promise<void> {
  const batches = calls / callsInBatch
  const steps = [
    `create unlogged table seed.agents as
      select row_number() over (order by agent.n)::int as n, agent.id, agent.owner_id, agent.version_id,
        case when scenario.owner_id <> agent.owner_id then scenario.owner_id end as royalty_to
      from seed.packages agent left join seed.packages scenario on scenario.name = agent.trained_on
      where agent.kind = 'agent' order by agent.n limit greatest(10, ${batches} / 10)`,
    `insert into usage_batches (id, account_id, package_id, version_id, seller_id, calls, amount_minor, fee_minor, royalty_minor, royalty_to,
        remainder, currency, created_at)
      select gen_random_uuid(), person.id, agent.id, agent.version_id, agent.owner_id, ${callsInBatch}, 100, 10,
        case when royalty_to is null then 0 else 5 end, royalty_to, 0, 'USD', now() - interval '365 days' * (1 - batch / ${batches + 1}.0)
      from generate_series(1, ${batches}) as batch
      join seed.people person on person.n = ${picked('batch', 12, '(select max(n) from seed.people) / 10', 2)}
      join seed.agents agent on agent.n = ${picked('batch', 13, '(select max(n) from seed.agents)', 2)}
      order by batch`,
    `insert into usage_events (id, account_id, package_id, version_id, calls, price_minor, at, created_at, batch_id, currency)
      select gen_random_uuid(), account_id, package_id, version_id, 1, 100, created_at - call * interval '1 second',
        created_at - call * interval '1 second', id, 'USD'
      from usage_batches cross join generate_series(1, ${callsInBatch}) as call`,
    `insert into usage_events (id, account_id, package_id, version_id, calls, price_minor, at, created_at, currency)
      select gen_random_uuid(), account_id, package_id, version_id, 1, 100, now(), now(), 'USD' from usage_batches`,
    ...openAccounts,
    partTransfers('usage_batches', { buyer: 'account_id', total: 'amount_minor', at: 'created_at' }),
  ]
  for (const step of steps) await database.execute(step)
}

/** Accounts of the ledger that are missing: of the platform, of buyers and callers, and of all who earn. */
const openAccounts = [
  `insert into ledger_accounts (owner_id, code, currency, debits_must_not_exceed_credits, credits_must_not_exceed_debits, hot)
    select null, code, 'USD', false, false, true from unnest(array['fees', 'provider']) as code on conflict do nothing`,
  `insert into ledger_accounts (owner_id, code, currency, debits_must_not_exceed_credits, credits_must_not_exceed_debits, hot)
    select id, 'balance', 'USD', true, false, false from seed.people on conflict do nothing`,
  `insert into ledger_accounts (owner_id, code, currency, debits_must_not_exceed_credits, credits_must_not_exceed_debits, hot)
    select owner, 'earnings', 'USD', true, false, false from (
      select seller_id as owner from orders union select royalty_to from orders
      union select seller_id from usage_batches union select royalty_to from usage_batches) owners
    where owner is not null on conflict do nothing`,
]

/** The transfers of sales: seller, fee and royalty, one after the other as the sales were made. */
function partTransfers(sales: string, { buyer, total, at }: { buyer: string; total: string; at: string }): string {
  return `insert into ledger_transfers (id, kind, debit_account_id, credit_account_id, amount, currency, code, reference, created_at)
    select gen_random_uuid(), 'posted', balance.id, credit.id, part.amount, 'USD', part.code, sale.id, sale.${at}
    from ${sales} sale
    cross join lateral (values ('sale', sale.seller_id, 'earnings', sale.${total} - sale.fee_minor - sale.royalty_minor),
      ('fee', null, 'fees', sale.fee_minor), ('royalty', sale.royalty_to, 'earnings', sale.royalty_minor)) as part (code, owner, account, amount)
    join ledger_accounts balance on balance.owner_id = sale.${buyer} and balance.code = 'balance'
    join ledger_accounts credit on credit.owner_id is not distinct from part.owner and credit.code = part.account
    where part.amount > 0 order by sale.${at}`
}

/** What the accounts of the ledger hold: the sums of their transfers. */
export async function seedBalances(database: Database): Promise<void> {
  await database.execute(
    `update ledger_accounts set debits_posted = moved.debits, credits_posted = moved.credits from (
        select account_id, sum(debit)::bigint as debits, sum(credit)::bigint as credits from (
          select debit_account_id as account_id, amount as debit, 0 as credit from ledger_transfers
          union all select credit_account_id, 0, amount from ledger_transfers) legs
        group by account_id) moved
      where moved.account_id = ledger_accounts.id`,
  )
}
