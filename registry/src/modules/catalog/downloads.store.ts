import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'

/** `client` is a keyed hash; `day` is UTC's; `account_id` null for a stranger. */
export type CountedDownload = { version_id: string; day: string; client: string; account_id: string | null }

/**
 * Counts those that were not counted yet, in one statement, so that the counters of versions and packages are what the
 * rows say whatever fails. Replicas take turns: each touches many versions, in whatever order the planner likes. Whoever is
 * known becomes a user of the package: they may review it. What the package's own people download is not counted: it says
 * nothing of how many others want it.
 */
export async function addDownloads(database: Database, downloads: CountedDownload[]): Promise<void> {
  await database.transaction(async (query) => {
    await database.lock(query, 'catalog downloads')
    const given = JSON.stringify(downloads)
    await sql`with fresh as (
        insert into downloads (version_id, day, client)
        select given.version_id, given.day, given.client
        from jsonb_to_recordset(${given}::jsonb) as given (version_id uuid, day date, client text, account_id uuid)
        join versions on versions.id = given.version_id
        join packages on packages.id = versions.package_id
        where given.account_id is distinct from packages.owner_id and not exists (
          select from memberships where organisation_id = packages.owner_id and user_id = given.account_id)
        on conflict do nothing
        returning version_id
      ), of_versions as (
        select versions.package_id, fresh.version_id, count(*) as downloads
        from fresh join versions on versions.id = fresh.version_id group by 1, 2
      ), versions_counted as (
        update versions set downloads = versions.downloads + of_versions.downloads
        from of_versions where versions.id = of_versions.version_id
      ), of_packages as (
        select package_id, sum(downloads)::bigint as downloads from of_versions group by 1
      )
      update packages set downloads = packages.downloads + of_packages.downloads
      from of_packages where packages.id = of_packages.package_id`.execute(query)
    if (downloads.every(({ account_id }) => account_id === null)) return
    await sql`insert into package_users (account_id, package_id)
      select distinct accounts.id, versions.package_id
      from jsonb_to_recordset(${given}::jsonb) as given (version_id uuid, account_id uuid)
      join versions on versions.id = given.version_id
      join accounts on accounts.id = given.account_id
      on conflict do nothing`.execute(query)
  })
}

/** Rows only serve to count a client once on its day; the counters stay. */
export async function deleteOldDownloads(query: Queries, keptDays: number): Promise<void> {
  await query
    .deleteFrom('downloads')
    .where('day', '<', sql<string>`(now() at time zone 'utc')::date - ${keptDays}::integer`)
    .execute()
}
