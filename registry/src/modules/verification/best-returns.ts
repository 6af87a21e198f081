import type { BestReturn, LearningCurve } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/** A line in a list is not drawn from more. */
const mostPoints = 24

type Row = { id: string; agent: string; return_mean: number; points: LearningCurve | null }

/**
 * The best verified return of the latest version of each of these packages, by package, in one query: of an agent its own, of
 * a scenario that of the best agent that everybody can see. Packages without one are left out.
 */
export async function bestReturns(query: Queries, packageIds: string[]): Promise<Map<string, BestReturn>> {
  if (packageIds.length === 0) return new Map()
  const { rows } = await sql<Row>`
    select listed.id, best.agent, best.return_mean, learning_curves.points
    from packages listed
    join versions latest on latest.package_id = listed.id and latest.version = listed.latest_version
    cross join lateral (
      (select verifications.return_mean, verifications.version_id, listed.name as agent
      from verifications
      where listed.kind = 'agent' and verifications.version_id = latest.id and verifications.state = 'verified'
        and verifications.return_mean is not null
      order by verifications.return_mean desc limit 1)
      union all
      (select verifications.return_mean, verifications.version_id, packages.name as agent
      from verifications
      join versions on versions.id = verifications.version_id
      join packages on packages.id = versions.package_id
      where listed.kind = 'scenario' and verifications.scenario_version_id = latest.id and verifications.state = 'verified'
        and verifications.return_mean is not null and versions.state = 'published' and versions.yanked_at is null
        and packages.visibility = 'public' and packages.taken_down_at is null
      order by verifications.return_mean desc limit 1)
    ) best
    left join learning_curves on learning_curves.version_id = best.version_id
    where listed.id = any(${packageIds}::uuid[])`.execute(query)
  return new Map(
    rows.map(({ id, agent, return_mean, points }) => [id, { agent, return_mean, curve: thinned(points ?? []) }]),
  )
}

/** Evenly, with the last one among them. */
function thinned(points: LearningCurve): LearningCurve {
  if (points.length <= mostPoints) return points
  const step = (points.length - 1) / (mostPoints - 1)
  return Array.from({ length: mostPoints }, (_, index) => points[Math.round(index * step)])
}
