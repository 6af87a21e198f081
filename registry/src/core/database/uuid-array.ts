import assert from 'node:assert'
import { type RawBuilder, sql } from 'kysely'

/** Lower case, as the database returns them: another spelling of the same ID would count as a different one. */
export function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
}

/** uuids as one parameter that both drivers send the same way. */
export function uuidArray(ids: Iterable<string>): RawBuilder<string[]> {
  const list = [...ids]
  for (const id of list) assert(isUuid(id), `${id} is no uuid in lower case`)
  return sql<string[]>`${`{${list.join(',')}}`}::text::uuid[]`
}
