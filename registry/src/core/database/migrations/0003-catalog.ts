import type { Migration } from './migration.ts'

const facets = 'kind, category, difficulty, algorithm, paid'
const facetsOf = (row: string) =>
  `${row}.kind, coalesce(${row}.category, '') as category, coalesce(${row}.difficulty, '') as difficulty,
   coalesce(${row}.algorithm, '') as algorithm, ${row}.price_minor > 0 as paid`
const listed = (row: string) => `${row}.latest_version is not null and ${row}.visibility = 'public'`
const addCounts = (changes: string) => `
  insert into package_counts as counts (${facets}, packages)
  select ${facets}, sum(packages) from (${changes}) changes
  group by ${facets} having sum(packages) <> 0 order by ${facets}
  on conflict (${facets}) do update set packages = counts.packages + excluded.packages`

/** What searching needs beside the packages themselves. */
export const catalog: Migration = {
  name: '0003-catalog',
  statements: [
    // `search` finds: everything, READMEs too. `search_rank` orders what was found: without the README, so short that it
    // lies in the row itself, where the README's words would have to be fetched and unpacked for every hit.
    `alter table packages add column search_rank tsvector not null default ''`,
    'alter table packages alter column search set storage external',
    'alter table packages alter column search_rank set storage main',
    'alter table packages alter column keywords set storage main',
    'alter table packages alter column summary set storage main',
    // Without the list of pending entries, which every search would have to read through. Writes are rare and off the
    // path of requests.
    'alter index packages_search_idx set (fastupdate = off)',
    'create index packages_category_idx on packages (category)',
    // Packages by facets, so that the first page of the catalogue does not count all of it. Kept by the triggers below.
    `create table package_counts (
      kind text not null,
      category text not null,
      difficulty text not null,
      algorithm text not null,
      paid boolean not null,
      packages bigint not null,
      constraint package_counts_pkey primary key (${facets})
    )`,
    // In the order of the key, so that two transactions take its rows in one order and do not wait for each other forever.
    `create function count_packages() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          ${addCounts(`select ${facetsOf('added')}, 1 as packages from added where ${listed('added')}`)};
        else
          ${addCounts(`select ${facetsOf('added')}, 1 as packages from added where ${listed('added')}
            union all select ${facetsOf('removed')}, -1 from removed where ${listed('removed')}`)};
        end if;
        return null;
      end $$`,
    `create trigger packages_counted_insert after insert on packages
      referencing new table as added for each statement execute function count_packages()`,
    `create trigger packages_counted_update after update on packages
      referencing old table as removed new table as added for each statement execute function count_packages()`,
    addCounts(`select ${facetsOf('packages')}, 1 as packages from packages where ${listed('packages')}`),
  ],
}
