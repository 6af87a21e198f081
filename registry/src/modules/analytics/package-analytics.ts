import type { PackageAnalytics } from '@agentgym/contract'
import { sql } from 'kysely'
import { type Actor, authorize } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import { csvLine } from '../../core/http/csv.ts'
import type { Services } from '../../core/services.ts'
import { findReadablePackage, usageDays } from '../packages/index.ts'

const dayMs = 24 * 3_600_000

/**
 * Views, trials, sales and refunds of the last days, for admins of the package's account. Views come from rows of a day;
 * everything else is counted from what it is: calls, orders and refunds.
 *
 * Throws `package_not_found`, `unauthenticated`, `forbidden`.
 */
export async function packageAnalytics(
  { database }: Pick<Services, 'database'>,
  actor: Actor | null,
  request: { name: string; days: number },
  now: Date = new Date(),
): Promise<PackageAnalytics> {
  const { query } = database
  const found = await findReadablePackage(query, actor, request.name, { takenDown: 'shown' })
  await authorize(query, actor, 'manage', found.owner_id, { scope: 'market:sell' })
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const from = day(now.getTime() - (request.days - 1) * dayMs)
  const rows = await countedDays(query, found.id, from)
  return { name: found.name, from, to: day(now.getTime()), retention_days: usageDays, rows }
}

async function countedDays(query: Queries, packageId: string, from: string): Promise<PackageAnalytics['rows']> {
  const since = sql`${`${from}T00:00:00Z`}::timestamptz`
  const { rows } = await sql<PackageAnalytics['rows'][number]>`
    select day::text as day, version, source, sum(views)::int as views, sum(trials)::int as trials,
      sum(sales)::int as sales, sum(refunds)::int as refunds
    from (
      select day, version, source, views, 0 as trials, 0 as sales, 0 as refunds
      from package_days where package_id = ${packageId} and day >= ${from}::date
      union all
      select (usage_events.at at time zone 'utc')::date, versions.version,
        case when usage_events.token_id is null then 'other' else 'command' end, 0, usage_events.trial_calls, 0, 0
      from usage_events join versions on versions.id = usage_events.version_id
      where usage_events.package_id = ${packageId} and usage_events.trial_calls > 0 and usage_events.at >= ${since}
      union all
      select (orders.paid_at at time zone 'utc')::date, versions.version, coalesce(orders.source, 'other'), 0, 0, 1, 0
      from orders join versions on versions.id = orders.version_id
      where orders.package_id = ${packageId} and orders.total_minor > 0 and orders.paid_at >= ${since}
      union all
      select (refunds.created_at at time zone 'utc')::date, versions.version, coalesce(orders.source, 'other'), 0, 0, 0, 1
      from orders join versions on versions.id = orders.version_id join refunds on refunds.order_id = orders.id
      where orders.package_id = ${packageId} and refunds.created_at >= ${since}
    ) counted
    group by 1, 2, 3 having sum(views) + sum(trials) + sum(sales) + sum(refunds) > 0
    order by 1, 2, 3`.execute(query)
  return rows
}

const columns = ['day', 'version', 'source', 'views', 'trials', 'sales', 'refunds'] as const

export async function* analyticsCsv({ rows }: PackageAnalytics): AsyncGenerator<string> {
  yield csvLine(columns)
  for (const row of rows) yield csvLine(columns.map((column) => row[column]))
}
