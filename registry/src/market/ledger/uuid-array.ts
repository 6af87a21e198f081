import assert from 'node:assert'
import { type RawBuilder, sql } from 'kysely'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** uuids as one parameter that both drivers send alike. They are lower case, as the database gives them back. */
export function uuidArray(ids: Iterable<string>): RawBuilder<string[]> {
  const list = [...ids]
  for (const id of list) assert(uuid.test(id), `${id} is no uuid in lower case`)
  return sql<string[]>`${`{${list.join(',')}}`}::text::uuid[]`
}
