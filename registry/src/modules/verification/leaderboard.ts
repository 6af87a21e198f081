import {
  AgentGymError,
  type BestReturn,
  type Leaderboard,
  type LearningCurve,
  verificationStatementSchema,
} from '@agentgym/contract'
import { type SqlBool, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { peopleBaseline } from '../demonstrations/index.ts'
import { findReadablePackage, findReadableVersion } from '../packages/index.ts'
import { isNondeterministic } from './nondeterministic-scenarios.ts'

type LeaderboardRequest = {
  actor: Actor | null
  name: string
  version: string
  limit: number
  cursor?: string | undefined
}

/** Maximum number of ranks. */
const deepestOffset = 10_000

/**
 * Verified agents of a scenario's version, best standing first: public ones that are neither yanked nor taken down, one
 * entry per package, its latest verified version. Throws `package_not_found`, `version_not_found`.
 */
export async function leaderboard(query: Queries, request: LeaderboardRequest): Promise<Leaderboard> {
  const { actor, name, version, limit } = request
  const scenario = await findReadablePackage(query, actor, name)
  const { id, version: exact } = await findReadableVersion(query, scenario, version)
  const offset = offsetOf(request.cursor)
  const rows = await rankedAgents(query, id, { offset, limit: limit + 1 })
  const entries = rows.slice(0, limit).map((row, i) => {
    const { held_out: heldOut } = verificationStatementSchema.parse(JSON.parse(row.statement ?? ''))
    return {
      rank: offset + i + 1,
      agent: { name: row.name, version: row.version, title: row.title, algorithm: row.algorithm },
      publisher: row.username,
      return_mean: row.score,
      confidence: row.low === null || row.high === null ? null : { low: row.low, high: row.high },
      attempts: row.attempts,
      season: row.season_id === null ? null : String(row.season_id),
      return_std: heldOut.return_std,
      length_mean: heldOut.length_mean,
      metrics: heldOut.metrics,
      success: heldOut.success.ok,
      outcome: heldOut.success,
      episodes: heldOut.episodes,
      steps: Number(row.steps),
      verified_at: row.created_at.toISOString(),
    }
  })
  const next = rows.length > limit && offset + limit <= deepestOffset ? String(offset + limit) : null
  const nondeterministic = await isNondeterministic(query, id)
  const people = await peopleBaseline(query, id)
  return { scenario: { name: scenario.name, version: exact, nondeterministic }, people, entries, next }
}

type RankedAgent = {
  name: string
  version: string
  username: string
  title: string | null
  algorithm: string
  steps: string
  score: number
  low: number | null
  high: number | null
  attempts: number
  season_id: number | null
  statement: string | null
  created_at: Date
}

/** Of a row of `standings`: the latest version of its package on the board. Its own version is a row of `versions`. */
const isLatestOnBoard = sql<SqlBool>`not exists (
  select from standings newer join versions later on later.id = newer.version_id
  where newer.package_id = standings.package_id and newer.scenario_version_id = standings.scenario_version_id
    and later.state = 'published' and later.yanked_at is null
    and (later.created_at, later.id) > (versions.created_at, versions.id))`

/** Of `versions` and `packages`: what everyone may see. */
const isPublic = sql<SqlBool>`versions.state = 'published' and versions.yanked_at is null
  and packages.visibility = 'public' and packages.taken_down_at is null`

/**
 * `verifiedAgents`, best first. Reads the board in the order of its index, each row with what belongs to it, until the page is
 * full: `offset 0` and `limit 1` keep the planner from reading all of a large board.
 */
async function rankedAgents(
  query: Queries,
  scenarioVersionId: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<RankedAgent[]> {
  const { rows } = await sql<RankedAgent>`
    select shown.*, standings.score, standings.low, standings.high, standings.attempts, standings.season_id
    from (select * from standings where scenario_version_id = ${scenarioVersionId} order by score desc offset 0) standings
    cross join lateral (
      select packages.name, versions.version, accounts.username, verdicts.statement, verdicts.created_at,
        versions.manifest -> 'agentgym' ->> 'title' as title, agent_versions.manifest ->> 'algorithm' as algorithm,
        agent_versions.manifest ->> 'steps' as steps
      from verdicts
      join versions on versions.id = verdicts.version_id
      join packages on packages.id = versions.package_id
      join accounts on accounts.id = packages.owner_id
      join agent_versions on agent_versions.version_id = versions.id
      where verdicts.version_id = standings.version_id and verdicts.state = 'verified' and ${isPublic} and ${isLatestOnBoard}
      limit 1) shown
    order by standings.score desc, shown.created_at, shown.name offset ${offset} limit ${limit}`.execute(query)
  return rows
}

/** The latest public version of each agent that is verified on a scenario's version. */
export function verifiedAgents(query: Queries, scenarioVersionId: string) {
  return query
    .selectFrom('standings')
    .innerJoin('verdicts', 'verdicts.version_id', 'standings.version_id')
    .innerJoin('versions', 'versions.id', 'standings.version_id')
    .innerJoin('packages', 'packages.id', 'versions.package_id')
    .innerJoin('accounts', 'accounts.id', 'packages.owner_id')
    .innerJoin('agent_versions', 'agent_versions.version_id', 'versions.id')
    .distinctOn('packages.id')
    .select(['packages.id', 'packages.name', 'versions.version', 'accounts.username', 'standings.version_id'])
    .select(['standings.score', 'standings.low', 'standings.high', 'standings.attempts', 'standings.season_id'])
    .select(['verdicts.statement', 'verdicts.created_at'])
    .select(sql<string | null>`versions.manifest -> 'agentgym' ->> 'title'`.as('title'))
    .select(sql<string>`agent_versions.manifest ->> 'algorithm'`.as('algorithm'))
    .select(sql<string>`agent_versions.manifest ->> 'steps'`.as('steps'))
    .where('standings.scenario_version_id', '=', scenarioVersionId)
    .where('verdicts.state', '=', 'verified')
    .where('versions.state', '=', 'published')
    .where('versions.yanked_at', 'is', null)
    .where('packages.visibility', '=', 'public')
    .where('packages.taken_down_at', 'is', null)
    .orderBy('packages.id')
    .orderBy('versions.created_at', 'desc')
    .orderBy('versions.id', 'desc')
}

function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const offset = /^\d{1,6}$/.test(cursor) ? Number(cursor) : Number.NaN
  if (offset <= deepestOffset) return offset
  throw new AgentGymError({
    code: 'request_invalid',
    message: 'The field "cursor" of the query is invalid: it does not come from a leaderboard.',
    hint: 'Omit it for the first page.',
    data: { field: 'cursor', in: 'query' },
  })
}

/** Maximum number of points of a curve in a list. */
const mostPoints = 24

type Row = {
  id: string
  agent: string
  version: string
  return_mean: number
  outcome: NonNullable<BestReturn['outcome']>
  recorded: boolean
  points: LearningCurve | null
}

/**
 * The best standing of each package by its latest version, in one query: an agent's own, or a scenario's best public
 * agent. Packages without a standing are omitted.
 */
export async function bestReturns(query: Queries, packageIds: string[]): Promise<Map<string, BestReturn>> {
  if (packageIds.length === 0) return new Map()
  const { rows } = await sql<Row>`
    select listed.id, best.agent, best.version, best.return_mean, learning_curves.points,
      best.statement::jsonb #> '{held_out,success}' as outcome,
      exists (select from sample_episodes where sample_episodes.version_id = best.version_id) as recorded
    from packages listed
    join versions latest on latest.package_id = listed.id and latest.version = listed.latest_version
    cross join lateral (
      (select standings.score as return_mean, standings.version_id, verdicts.statement, listed.name as agent,
        latest.version
      from standings join verdicts on verdicts.version_id = standings.version_id
      where listed.kind = 'agent' and standings.version_id = latest.id and verdicts.state = 'verified')
      union all
      (select standings.score as return_mean, standings.version_id, shown.statement, shown.agent, shown.version
      from (select * from standings where scenario_version_id = latest.id order by score desc offset 0) standings
      cross join lateral (
        select verdicts.statement, packages.name as agent, versions.version
        from verdicts
        join versions on versions.id = verdicts.version_id
        join packages on packages.id = versions.package_id
        where verdicts.version_id = standings.version_id and verdicts.state = 'verified' and ${isPublic} and ${isLatestOnBoard}
        limit 1) shown
      where listed.kind = 'scenario'
      order by standings.score desc limit 1)
    ) best
    left join learning_curves on learning_curves.version_id = best.version_id
    where listed.id = any(${packageIds}::uuid[])`.execute(query)
  return new Map(rows.map(({ id, points, ...best }) => [id, { ...best, curve: thinned(points ?? []) }]))
}

/** Evenly spaced, including the last. */
function thinned(points: LearningCurve): LearningCurve {
  if (points.length <= mostPoints) return points
  const step = (points.length - 1) / (mostPoints - 1)
  return Array.from({ length: mostPoints }, (_, index) => points[Math.round(index * step)])
}
