import type { Migration } from './migration.ts'

/** The speed of a scenario is a number of its own. Before, it was read out of the message of the check. */
export const measuredSpeed: Migration = {
  name: '0027-measured-speed',
  statements: [
    'alter table versions add column steps_per_second double precision',
    `update versions set steps_per_second = (
      select case when found[2] is null then 1 else 1e6 end * replace(found[1], ',', '')::double precision
      from jsonb_array_elements(checks) checked,
        regexp_match(checked ->> 'message', '^([0-9][0-9,]*(?:[.][0-9]+)?)( M)? environment steps a second') found
      where checked ->> 'id' = 'speed' and checked -> 'ok' = 'true' and found is not null limit 1)
    where checks @> '[{"id": "speed", "ok": true}]'`,
  ],
}
