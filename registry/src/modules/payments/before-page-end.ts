import { type RawBuilder, sql } from 'kysely'
import type { PageEnd } from '../../core/database/page-cursor.ts'

/** What comes after a page's end in a list by `created_at` and `id`, newest first; all of it where there is none. */
export function beforePageEnd(table: string, after: PageEnd | null): RawBuilder<boolean> {
  if (after === null) return sql<boolean>`true`
  const [createdAt, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)]
  return sql<boolean>`(${createdAt}, ${id}) < (${new Date(after.key)}::timestamptz, ${after.id}::uuid)`
}
