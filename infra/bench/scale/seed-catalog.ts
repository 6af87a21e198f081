import { type Database, loadPackages, syntheticAgentManifest, syntheticPackages } from '@agentgym/registry/benchmarks'

/** Rows of what grows. */
export type Scale = {
  packages: number
  /** Rows of a version, a day and a client. */
  downloads: number
  runs: number
  orders: number
  /** Metered calls of hosted agents. */
  calls: number
}

/** A uniform number, always the same for the same row: random() would give another database each time. */
export const share = (row: string, salt: number) =>
  `((hashint8extended((${row})::bigint, ${salt}) & 2147483647) / 2147483648.0::float8)`
/** A number from 1 to `most`, low ones more often. */
export const picked = (row: string, salt: number, most: string | number, skew: number) =>
  `(1 + floor(${most} * power(${share(row, salt)}, ${skew})))::int`

const copies = 9

/** One of ten as `loadPackages` makes them. The others are copies under other names, of which half of the agents share a scenario. */
export async function seedPackages(database: Database, { packages }: Scale): Promise<void> {
  await loadPackages(database, syntheticPackages(packages / (copies + 1), 1))
  const fixed =
    'owner_id, kind, visibility, price_minor, price_kind, latest_version, title, summary, category, difficulty, algorithm, solved, keywords, quality'
  const ofVersion =
    'version, state, checks, steps_per_second, manifest, readme, integrity, shasum, object_key, size, unpacked_size, file_count, published_by, intended_tag, published_at, created_at'
  const steps = [
    'create schema seed',
    `create unlogged table seed.copies as select gen_random_uuid() as id, id as source, n from packages cross join generate_series(1, ${copies}) as n`,
    // Built at once, it takes a tenth of the time.
    'drop index packages_search_idx',
    `with copied as (
        insert into packages (id, name, name_canonical, ${fixed}, trained_on, downloads, updated_at, created_at, search, search_rank)
        select copies.id, name || '-' || n, name || '-' || n, ${fixed}, case when n % 2 = 0 then trained_on else trained_on || '-' || n end,
          downloads / (1 + n * n), updated_at - n * interval '1 hour', created_at - n * interval '1 hour', search, search_rank
        from seed.copies join packages on packages.id = copies.source),
      tagged as (insert into tags (package_id, tag, version) select id, 'latest', '1.0.0' from seed.copies)
      insert into versions (package_id, ${ofVersion}) select copies.id, ${ofVersion} from seed.copies join versions on package_id = source`,
    'create index packages_search_idx on packages using gin (search) with (fastupdate = off)',
    'vacuum analyze',
  ]
  for (const step of steps) await database.execute(step)
}

/**
 * What belongs to packages: older versions, 20 of popular packages and one of the others; downloads, most of them of few
 * versions; agents with their scenario, two of three on its leaderboard. For a connection that skips triggers.
 */
export async function seedVersions(database: Database, scale: Scale): Promise<void> {
  const popular = Math.ceil(scale.packages / 100)
  const steps = [
    `create unlogged table seed.packages as
      select row_number() over (order by packages.downloads desc, packages.id)::int as n, packages.id, packages.name, packages.owner_id,
        packages.kind, packages.trained_on, packages.price_minor, versions.id as version_id
      from packages join versions on versions.package_id = packages.id
      where packages.visibility = 'public'`,
    'create unique index on seed.packages (n)',
    `update versions set bundle_hash = encode(sha256(id::text::bytea), 'hex'), files_kept = true`,
    `insert into versions (package_id, version, state, checks, manifest, readme, integrity, shasum, object_key, size, unpacked_size,
        file_count, published_by, intended_tag, published_at, created_at, bundle_hash, files_kept)
      select latest.package_id, '0.' || back || '.0', 'published', '[]',
        latest.manifest || jsonb_build_object('version', '0.' || back || '.0'), 'An older version.', latest.integrity, latest.shasum,
        latest.object_key, latest.size, latest.unpacked_size, latest.file_count, latest.published_by, 'latest',
        latest.published_at - back * interval '9 days', latest.created_at - back * interval '9 days',
        encode(sha256((latest.id || '.' || n)::bytea), 'hex'), true
      from seed.packages join versions latest on latest.id = seed.packages.version_id
      cross join lateral generate_series(1, case when seed.packages.n <= ${popular} then 20 else 1 end) as back`,
    `create unlogged table seed.versions as
      select row_number() over (order by seed.packages.n, versions.created_at desc)::int as n, versions.id
      from versions join seed.packages on seed.packages.id = versions.package_id`,
    'create unique index on seed.versions (n)',
    'analyze',
    `insert into downloads (version_id, day, client)
      select seed.versions.id, current_date - ${picked('row', 1, 30, 1)} + 1, encode(sha256(row::text::bytea), 'base64')
      from generate_series(1, ${scale.downloads}) as row
      join seed.versions on seed.versions.n = ${picked('row', 2, '(select max(n) from seed.versions)', 3)}`,
    `insert into package_days (package_id, version, day, source, views)
      select id, '1.0.0', current_date - day, (array['search', 'browse', 'link'])[1 + day % 3], 1 + 1000 / n
      from seed.packages cross join generate_series(0, 29) as day where n <= ${10 * popular}`,
    `insert into sale_terms (package_id, royalty_basis_points, calls_price_minor)
      select id, case when kind = 'scenario' then 500 else 0 end, case when kind = 'agent' then 100 else 0 end
      from seed.packages`,
    `insert into prices (package_id, kind, amount_minor, currency, effective_at, set_by)
      select id, 'one_time', price_minor, 'USD', now() - interval '800 days', owner_id from packages where price_minor > 0`,
  ]
  for (const step of steps) await database.execute(step)
  await seedAgents(database)
}

const hash = 'a'.repeat(64)
const { evaluation } = syntheticAgentManifest
/** What the leaderboard shows of each agent. */
const statement = JSON.stringify({
  ...{
    type: 'agentgym-verification-1',
    server: 'http://localhost',
    key_id: 'seed',
    verified_at: '2026-01-01T00:00:00Z',
  },
  agent: { name: '@seed/agent', version: '1.0.0', integrity: '', model_hash: hash },
  scenario: { name: '@seed/scenario', version: '1.0.0', hash, integrity: '' },
  ...{ claim: evaluation, held_out: evaluation, output_hash: hash, runtime: {} },
})

async function seedAgents(database: Database): Promise<void> {
  const manifest = JSON.stringify(syntheticAgentManifest)
  await database.execute(
    `insert into agent_versions (version_id, manifest)
      select versions.id, $1::text::jsonb || jsonb_build_object('scenario', $1::text::jsonb -> 'scenario' || jsonb_build_object(
        'name', scenario.name, 'version', '1.0.0', 'hash', scenario_version.bundle_hash))
      from packages join versions on versions.package_id = packages.id
      left join packages scenario on scenario.name = packages.trained_on
      left join versions scenario_version on scenario_version.package_id = scenario.id and scenario_version.version = '1.0.0'
      where packages.kind = 'agent'`,
    [manifest],
  )
  await database.execute(`insert into signing_keys (id, public_key, retired_at) values ('seed', '', now())`)
  const verified = `from seed.packages agent join seed.packages scenario on scenario.name = agent.trained_on
    where agent.kind = 'agent' and agent.n % 3 > 0`
  await database.execute(
    `insert into standings (version_id, scenario_version_id, package_id, score, attempts)
      select agent.version_id, scenario.version_id, agent.id, 500 * ${share('agent.n', 3)}, 1 ${verified}`,
  )
  await database.execute(
    `with verified as (
        select gen_random_uuid() as id, agent.version_id, scenario.version_id as scenario_version_id, agent.n ${verified}),
      evaluated as (
        insert into evaluations (id, purpose, version_id, episodes, seed, state, ended_at)
        select id, 'verification', version_id, 100, n, 'completed', now() from verified)
      insert into verifications (evaluation_id, version_id, scenario_version_id, state, return_mean, statement, signature, key_id)
      select id, version_id, scenario_version_id, 'verified', 500 * ${share('n', 3)}, $1, '', 'seed' from verified`,
    [statement],
  )
}
