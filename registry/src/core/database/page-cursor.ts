import { createHmac, timingSafeEqual } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'

/** Where a page ended: the sort key of its last package (times in milliseconds) and that package's id. */
export type PageEnd = { key: number; id: string }

const endSchema = z.tuple([z.int(), z.uuid()])

/** The end of a page, signed together with its query: invalid for any other query, and it cannot be forged. */
export function encodeCursor(secret: Uint8Array, query: string, { key, id }: PageEnd): string {
  const payload = Buffer.from(JSON.stringify([key, id])).toString('base64url')
  return `${payload}.${sign(secret, query, payload).toString('base64url')}`
}

/** Throws `request_invalid` for anything that `encodeCursor` did not return for this query. */
export function decodeCursor(secret: Uint8Array, query: string, cursor: string): PageEnd {
  const [payload, signature, ...rest] = cursor.split('.')
  const given = Buffer.from(signature ?? '', 'base64url')
  const expected = sign(secret, query, payload)
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) throw cursorInvalid()
  const end = endSchema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString()))
  if (!end.success) throw cursorInvalid()
  return { key: end.data[0], id: end.data[1] }
}

type PageOf<Row> = {
  secret: Uint8Array
  /** The list and filter that the cursor belongs to. */
  listKey: string
  cursor: string | undefined
  limit: number
  endOf: (row: Row) => PageEnd
}

/** A page of a list and the next page's cursor, null on the last. `read` returns up to `limit` rows after `after`. */
export async function readPage<Row>(
  { secret, listKey, cursor, limit, endOf }: PageOf<Row>,
  read: (range: { after: PageEnd | null; limit: number }) => Promise<Row[]>,
): Promise<{ rows: Row[]; next_cursor: string | null }> {
  const after = cursor === undefined ? null : decodeCursor(secret, listKey, cursor)
  // One extra row shows whether there are more.
  const rows = await read({ after, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const more = rows.length > limit && last !== undefined
  return { rows: page, next_cursor: more ? encodeCursor(secret, listKey, endOf(last)) : null }
}

/** The end of a page of rows ordered by creation time. */
export function endByCreation({ created_at, id }: { created_at: Date; id: string }): PageEnd {
  return { key: created_at.getTime(), id }
}

function sign(secret: Uint8Array, query: string, payload: string): Buffer {
  return createHmac('sha256', secret).update(`catalog cursor\n${query}\n${payload}`).digest().subarray(0, 16)
}

function cursorInvalid(): AgentGymError {
  return new AgentGymError({
    code: 'request_invalid',
    message: 'The field "cursor" of the query is invalid: it does not come from this query.',
    hint: 'Omit it for the first page, and keep q, filters and sort the same on all pages.',
    data: { field: 'cursor', in: 'query' },
  })
}

/** Rows after a page's end in a list by `created_at` and `id`, newest first; all rows if there is no page end. */
export function afterPageEnd(table: string, after: PageEnd | null): RawBuilder<boolean> {
  if (after === null) return sql<boolean>`true`
  const [createdAt, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)]
  return sql<boolean>`(${createdAt}, ${id}) < (${new Date(after.key)}::timestamptz, ${after.id}::uuid)`
}
