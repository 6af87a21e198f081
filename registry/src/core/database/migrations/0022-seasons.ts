import type { Migration } from './migration.ts'

/**
 * Seasons: held-out episodes are drawn from a secret of the season and the scenario, equal for all agents. Leaderboards
 * rank by standings, which `standings.ts` computes from the returns of episodes.
 */
export const seasons: Migration = {
  name: '0022-seasons',
  statements: [
    `create table seasons (
      id integer generated always as identity constraint seasons_pkey primary key,
      sealed_secret text not null,
      -- Hex; published once the season has ended.
      secret text constraint seasons_secret_check check (secret ~ '^[0-9a-f]{64}$'),
      commitment text not null constraint seasons_commitment_key unique
        constraint seasons_commitment_check check (commitment ~ '^[0-9a-f]{64}$'),
      started_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      constraint seasons_secret_ended_check check (secret is null or ended_at is not null)
    )`,
    'create unique index seasons_running_key on seasons ((true)) where ended_at is null',
    `create trigger seasons_ended_once before update or delete on seasons for each row
      when (old.ended_at is not null) execute function refuse('a season ends once')`,
    // Null: the seed is one of its own, from before there were seasons.
    `alter table evaluations add column season_id integer
      constraint evaluations_season_id_fkey references seasons (id)`,
    `alter table verifications add column season_id integer
      constraint verifications_season_id_fkey references seasons (id)`,
    'alter table verifications add column episode_returns double precision[]',
    `create or replace view verdicts as
      select verdict.* from verifications verdict
      where verdict.state in ('verified', 'mismatch') and not exists (
        select from verifications later
        where later.version_id = verdict.version_id and later.state in ('verified', 'mismatch')
          and (later.created_at, later.evaluation_id) > (verdict.created_at, verdict.evaluation_id))`,
    `create table standings (
      version_id uuid constraint standings_pkey primary key
        constraint standings_version_id_fkey references versions (id),
      scenario_version_id uuid not null constraint standings_scenario_version_id_fkey references versions (id),
      package_id uuid not null constraint standings_package_id_fkey references packages (id),
      season_id integer constraint standings_season_id_fkey references seasons (id),
      score double precision not null,
      low double precision,
      high double precision,
      -- Versions with which the account has tried this scenario.
      attempts integer not null constraint standings_attempts_check check (attempts > 0)
    )`,
    'create index standings_leaderboard_idx on standings (scenario_version_id, score desc)',
    'create index standings_package_id_idx on standings (package_id)',
    // Student's t for the 99 degrees of freedom of a hundred episodes.
    `insert into standings (version_id, scenario_version_id, package_id, score, low, high, attempts)
      select version_id, scenario_version_id, package_id, return_mean, return_mean - margin, return_mean + margin, attempts
      from (
        select verdicts.version_id, verdicts.scenario_version_id, versions.package_id, verdicts.return_mean,
          1.984217 * (verdicts.statement::jsonb -> 'held_out' ->> 'return_std')::float8
            / sqrt((verdicts.statement::jsonb -> 'held_out' ->> 'episodes')::float8) as margin,
          count(*) over (partition by verdicts.scenario_version_id, packages.owner_id) as attempts
        from verdicts
        join versions on versions.id = verdicts.version_id
        join packages on packages.id = versions.package_id
        where verdicts.state = 'verified' and verdicts.return_mean is not null
          and verdicts.scenario_version_id is not null
      ) verified`,
  ],
}
