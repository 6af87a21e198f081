import type { Migration } from './migration.ts'

const facets = 'scenario, category, difficulty, algorithm, paid, solved'
const facetsOf = (row: string) =>
  `coalesce(${row}.trained_on, '') as scenario, coalesce(${row}.category, '') as category,
   coalesce(${row}.difficulty, '') as difficulty, coalesce(${row}.algorithm, '') as algorithm,
   ${row}.price_minor > 0 as paid, coalesce(${row}.solved, false) as solved`
const listed = (row: string) =>
  `${row}.kind = 'agent' and ${row}.latest_version is not null and ${row}.visibility = 'public'
   and ${row}.taken_down_at is null`
const addCounts = (changes: string) => `
  insert into agent_counts as counts (${facets}, packages)
  select ${facets}, sum(packages) from (${changes}) changes
  group by ${facets} having sum(packages) <> 0 order by ${facets}
  on conflict (${facets}) do update set packages = counts.packages + excluded.packages`
const latestOfPackage = `versions.package_id = packages.id and versions.version = packages.latest_version`

/** What helps a choice: the scenario and the outcome of agents, similar scenarios, counts of trainings and plays. */
export const discovery: Migration = {
  name: '0044-discovery',
  statements: [
    // Of an agent's latest version: its scenario, and whether it is verified and meets all targets.
    'alter table packages add column trained_on text',
    'alter table packages add column solved boolean',
    'alter table packages add column trainings bigint not null default 0',
    'alter table packages add column plays bigint not null default 0',
    'alter table training_runs add column publish_summary text',
    'create index packages_trained_on_idx on packages (trained_on) where trained_on is not null',
    // The most similar scenarios of a scenario, as found for one of its versions.
    `create table similar_scenarios (
      package_id uuid constraint similar_scenarios_pkey primary key
        constraint similar_scenarios_package_id_fkey references packages (id),
      version text not null,
      spaces text,
      similar_ids uuid[] not null,
      found_at timestamptz(3) not null default now()
    )`,
    // Agents by facets, so that the first page of a list does not count all of them. Kept by the triggers below.
    `create table agent_counts (
      scenario text not null,
      category text not null,
      difficulty text not null,
      algorithm text not null,
      paid boolean not null,
      solved boolean not null,
      packages bigint not null,
      constraint agent_counts_pkey primary key (${facets})
    )`,
    `create function count_agents() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          ${addCounts(`select ${facetsOf('added')}, 1 as packages from added where ${listed('added')}`)};
        else
          ${addCounts(`select ${facetsOf('added')}, 1 as packages from added where ${listed('added')}
            union all select ${facetsOf('removed')}, -1 from removed where ${listed('removed')}`)};
        end if;
        return null;
      end $$`,
    addCounts(`select ${facetsOf('packages')}, 1 as packages from packages where ${listed('packages')}`),
    `create trigger packages_agents_counted_insert after insert on packages
      referencing new table as added for each statement execute function count_agents()`,
    `create trigger packages_agents_counted_update after update on packages
      referencing old table as removed new table as added for each statement execute function count_agents()`,
    // Last: a table whose deferred checks are waiting takes neither indexes nor triggers.
    `update packages set trained_on = agent_versions.manifest -> 'scenario' ->> 'name',
        algorithm = left(agent_versions.manifest ->> 'algorithm', 40)
      from versions join agent_versions on agent_versions.version_id = versions.id
      where packages.kind = 'agent' and ${latestOfPackage}`,
    `update packages set solved = exists (
        select from versions join verdicts on verdicts.version_id = versions.id
        where ${latestOfPackage} and verdicts.state = 'verified'
          and verdicts.statement::jsonb #>> '{held_out,success,ok}' = 'true'
          and verdicts.statement::jsonb #> '{held_out,success,criteria}' <> '[]'::jsonb)
      where trained_on is not null`,
    `update packages set trainings = trained.runs from (
        select versions.package_id, count(*) as runs
        from training_runs
        join versions on versions.id = training_runs.scenario_version_id
        join packages scenario on scenario.id = versions.package_id
        where training_runs.state = 'completed' and training_runs.owner_id <> scenario.owner_id
        group by 1
      ) trained where packages.id = trained.package_id`,
    // For the migrations after this one.
    'set constraints all immediate',
  ],
}
