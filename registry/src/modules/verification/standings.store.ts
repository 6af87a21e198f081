import { sql, type Transaction } from 'kysely'
import type { Database } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import { type Attempt, type Standing, standingsOf } from './standings.ts'

/** An account's agents for a scenario version, which are judged together. */
type Board = { scenarioVersionId: string; ownerId: string }

type AttemptRow = {
  version_id: string
  package_id: string
  season_id: number | null
  attempt: number
  attempts: number
  return_mean: number
  return_std: number | null
  episodes: number
  episode_returns: number[] | null
}

/**
 * Recomputes the standings of an account on a scenario version from all verified results that still count. Call it in
 * the transaction of the verdict.
 */
export async function refreshStandings(
  database: Database,
  query: Transaction<Schema>,
  { scenarioVersionId, ownerId }: Board,
): Promise<void> {
  await database.lock(query, `standings:${scenarioVersionId}:${ownerId}`)
  const rows = await readAttempts(query, { scenarioVersionId, ownerId })
  const order = await publishOrder(
    query,
    rows.map((row) => row.version_id),
  )
  const standings = [...standingsOf(rows.map(attemptOf), (versionId) => order.get(versionId) ?? -1).values()]
  await sql`
    delete from standings where scenario_version_id = ${scenarioVersionId} and package_id in (
      select id from packages where owner_id = ${ownerId})`.execute(query)
  if (standings.length === 0) return
  const { attempts } = rows[0]
  await query
    .insertInto('standings')
    .values(standings.map((standing) => rowOf(standing, scenarioVersionId, attempts)))
    .execute()
}

/** Verified results of versions that are still verified, in the order of their verification. */
async function readAttempts(query: Transaction<Schema>, board: Board): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    with tried as (
      select verifications.*, versions.package_id from verifications
      join versions on versions.id = verifications.version_id
      join packages on packages.id = versions.package_id
      where verifications.scenario_version_id = ${board.scenarioVersionId} and packages.owner_id = ${board.ownerId}
        and verifications.state in ('verified', 'mismatch')
    ), numbered as (
      select version_id, row_number() over (order by min(created_at), version_id) as attempt,
        count(*) over () as attempts
      from tried group by version_id
    )
    select tried.version_id, tried.package_id, tried.season_id, numbered.attempt, numbered.attempts, tried.return_mean,
      (tried.statement::jsonb -> 'held_out' ->> 'return_std')::float8 as return_std,
      (tried.statement::jsonb -> 'held_out' ->> 'episodes')::integer as episodes, tried.episode_returns
    from tried join numbered using (version_id)
    where tried.state = 'verified' and tried.return_mean is not null and exists (
      select from verdicts where verdicts.version_id = tried.version_id and verdicts.state = 'verified')
    order by tried.created_at, tried.evaluation_id`.execute(query)
  return rows
}

/** Versions ranked by publication time. */
async function publishOrder(query: Transaction<Schema>, versionIds: string[]): Promise<Map<string, number>> {
  if (versionIds.length === 0) return new Map()
  const rows = await query
    .selectFrom('versions')
    .select('id')
    .where('id', 'in', [...new Set(versionIds)])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return new Map(rows.map(({ id }, index) => [id, index]))
}

function attemptOf(row: AttemptRow): Attempt {
  const { return_mean: mean, return_std: std, episodes, episode_returns: returns } = row
  return {
    ...{ packageId: row.package_id, versionId: row.version_id, season: row.season_id, attempt: row.attempt },
    measure: { mean, std, episodes, returns },
  }
}

function rowOf(
  { packageId, versionId, season, score, low, high }: Standing,
  scenarioVersionId: string,
  attempts: number,
) {
  return {
    ...{ version_id: versionId, scenario_version_id: scenarioVersionId, package_id: packageId, season_id: season },
    ...{ score, low, high, attempts },
  }
}
