import type { Migration } from './migration.ts'

const facets = 'category, difficulty, algorithm, paid, solved'
const byFacets = (changes: string) => `
  insert into agent_facets as sums (${facets}, packages)
  select ${facets}, sum(packages) from (${changes}) changes group by ${facets} having sum(packages) <> 0 order by ${facets}
  on conflict (${facets}) do update set packages = sums.packages + excluded.packages`
const byScenario = (changes: string) => `
  insert into agent_scenarios as sums (scenario, packages, solved)
  select scenario, sum(packages), coalesce(sum(packages) filter (where solved), 0) from (${changes}) changes
  where scenario <> '' group by scenario order by scenario
  on conflict (scenario) do update set packages = sums.packages + excluded.packages, solved = sums.solved + excluded.solved`
const added = 'select * from added'
const changed = `select ${facets}, scenario, packages from added union all select ${facets}, scenario, -packages from removed`

/** Sums of `agent_counts`, which has a row for each scenario and combination of facets: without scenarios, and by them alone. */
export const agentSums: Migration = {
  name: '0052-agent-sums',
  compatible: true,
  statements: [
    `create table agent_facets (
      category text not null,
      difficulty text not null,
      algorithm text not null,
      paid boolean not null,
      solved boolean not null,
      packages bigint not null,
      constraint agent_facets_pkey primary key (${facets})
    )`,
    `create table agent_scenarios (
      scenario text constraint agent_scenarios_pkey primary key,
      packages bigint not null,
      -- Those that meet all targets.
      solved bigint not null
    )`,
    'create index agent_scenarios_packages_idx on agent_scenarios (packages desc, scenario)',
    'create index agent_scenarios_solved_idx on agent_scenarios (solved desc, scenario)',
    `create function sum_agents() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          ${byFacets(added)};
          ${byScenario(added)};
        else
          ${byFacets(changed)};
          ${byScenario(changed)};
        end if;
        return null;
      end $$`,
    // Before the sums: nothing is counted meanwhile.
    `create trigger agent_counts_summed_insert after insert on agent_counts
      referencing new table as added for each statement execute function sum_agents()`,
    `create trigger agent_counts_summed_update after update on agent_counts
      referencing old table as removed new table as added for each statement execute function sum_agents()`,
    byFacets('select * from agent_counts').trim(),
    byScenario('select * from agent_counts').trim(),
  ],
}
