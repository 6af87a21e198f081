import type { PeopleBaseline } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'

/**
 * What people reach on a scenario version: each account counts once, by the mean return of the episodes it keeps. A mean
 * stands beside means of agents; the best of many tries would not. Null if there is no episode.
 */
export async function peopleBaseline(query: Queries, versionId: string): Promise<PeopleBaseline | null> {
  const { rows } = await sql<{ return_mean: number | null; people: number; episodes: number }>`
    select avg(mean) as return_mean, count(*)::int as people, coalesce(sum(kept), 0)::int as episodes from (
      select avg(return_sum) as mean, count(*) as kept from demonstrations
      join accounts on accounts.id = demonstrations.account_id and accounts.disabled_at is null
      where version_id = ${versionId} and state = 'kept' and removed_at is null group by account_id) as people`.execute(
    query,
  )
  const [{ return_mean: mean, people, episodes }] = rows
  return mean === null ? null : { return_mean: mean, people, episodes }
}
