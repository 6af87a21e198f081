import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { PoolClient } from 'pg'

const mark = '/* prepared */'

/**
 * Marks a statement that PostgreSQL is to parse and plan once a connection: sql`${prepared} select …`, or `.modifyEnd(prepared)`
 * on a builder. For statements that run hundreds of times a second, whose text is always the same, and for which one plan is
 * right whatever the parameters: planning is most of what a short statement over several tables costs. List its columns, for
 * a result whose columns change under a prepared statement is an error. PGlite takes the mark for the comment that it is.
 */
export const prepared = sql.raw(mark)

/** Sends marked statements under a name, by which PostgreSQL knows them again. */
export function prepareMarked(client: PoolClient): void {
  const query: (...given: unknown[]) => unknown = client.query.bind(client)
  const send = (text: unknown, values: unknown, ...rest: unknown[]): unknown => {
    if (typeof text !== 'string' || !isPrepared(text)) return query(text, values, ...rest)
    return query({ name: nameOf(text), text, values }, ...rest)
  }
  client.query = send as typeof client.query
}

export const isPrepared = (text: string): boolean => text.includes(mark)

const names = new Map<string, string>()

/** The name by which PostgreSQL knows a statement again. */
export function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = createHash('sha256').update(text).digest('base64url')
    names.set(text, name)
  }
  return name
}
