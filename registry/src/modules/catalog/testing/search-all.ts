import type { Actor } from '../../../core/access/authorize.ts'
import type { Database } from '../../../core/database/database.ts'
import type { PageEnd } from '../../../core/database/page-cursor.ts'
import { searchQuery } from '../../search/index-package.ts'
import { type FoundPackages, type PackageSearch, searchPackages } from '../search-packages.ts'

export type SearchCriteria = Partial<Omit<PackageSearch, 'words' | 'after'>> & { q?: string; after?: PageEnd | null }

export function search(
  database: Database,
  { q = '', after = null, limit = 20, sort = 'relevance', ...filters }: SearchCriteria = {},
  actor: Actor | null = null,
): Promise<FoundPackages> {
  return searchPackages(database, actor, { ...filters, sort, limit, after, words: searchQuery(q) })
}

/** Names of all pages, one after another; `between` runs before each page but the first. */
export async function searchAll(
  database: Database,
  criteria: SearchCriteria,
  actor: Actor | null = null,
  between: () => Promise<void> = async () => {},
): Promise<string[]> {
  const names: string[] = []
  let after: PageEnd | null = null
  do {
    if (after !== null) await between()
    const page: FoundPackages = await search(database, { ...criteria, after }, actor)
    names.push(...page.rows.map(({ name }) => name))
    after = page.end
  } while (after !== null)
  return names
}
