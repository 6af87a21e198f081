import type { PackageNames } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { visiblePackages } from './search-packages.ts'

/** Packages per page: a sitemap may list 50,000 addresses, and a response should stay below a few megabytes. */
const namesPerPage = 10_000

/**
 * A page of the names of all public packages with a version, in alphabetical order. Pages start at 1; past the last one there are no
 * names, and the number of pages.
 */
export async function listPackageNames(query: Queries, page: number, perPage = namesPerPage): Promise<PackageNames> {
  // Kept by triggers.
  const { count } = await query
    .selectFrom('package_counts')
    .select(sql<number>`coalesce(sum(packages), 0)::int`.as('count'))
    .executeTakeFirstOrThrow()
  const pages = Math.max(1, Math.ceil(count / perPage))
  if (page > pages) return { packages: [], pages }
  const rows = await query
    .selectFrom('packages')
    .where('latest_version', 'is not', null)
    .where(visiblePackages(null))
    .select(['name', 'updated_at'])
    .orderBy('name')
    .limit(perPage)
    .offset((page - 1) * perPage)
    .execute()
  return { packages: rows.map(({ name, updated_at }) => ({ name, updated_at: updated_at.toISOString() })), pages }
}
