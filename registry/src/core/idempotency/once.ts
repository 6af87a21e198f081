import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import { ahead, sendAhead } from '../database/flights.ts'
import { prepared } from '../database/prepared-statements.ts'
import type { Schema } from '../database/schema.ts'
import { requestHash } from './request-hash.ts'

export type Keyed = {
  actorId: string
  /** The client's, from the header Idempotency-Key. */
  key: string
  /** `order.place`: one key is for one request of one kind. */
  action: string
  /** What was asked for, hashed in whatever order its fields came. */
  request: Record<string, unknown>
}

export type KeyedAnswer<Answer> = { status: number; answer: Answer }

/**
 * Does `work` once for each actor and key, and answers every repetition with what the first one was answered. Call it first
 * in the transaction: it writes the key's row, so whoever comes with the same key at the same moment waits for the one that
 * was first, and nothing of the key is there unless all of the work is. A failure is not kept: it changed nothing.
 *
 * `read` is what the work begins with: reads alone, which go to the database together with the key. What they come to is `work`'s
 * where the key is new, and nobody's where it is not.
 *
 * One round trip, none where there is something to read; the answer goes with the commit. Throws `idempotency_key_reused` where
 * the key came with another request, and what `read` and `work` throw.
 */
export async function once<Answer extends Record<string, unknown>, Read = undefined>(
  query: Transaction<Schema>,
  { actorId, key, action, request }: Keyed,
  work: (read: Read) => Promise<KeyedAnswer<Answer>>,
  read: () => Promise<Read> = async () => undefined as Read,
): Promise<KeyedAnswer<Answer> & { repeated: boolean }> {
  const hash = requestHash(request)
  const written = await sendAhead(
    query,
    query
      .insertInto('idempotency_keys')
      .values({ actor_id: actorId, key, action, request_hash: hash, status: 0, answer: '{}' })
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .modifyEnd(preparedAhead)
      .compile(),
  )
  const [found] = await Promise.allSettled([read()])
  if (found.status === 'rejected' && !(found.reason instanceof AgentGymError)) throw found.reason
  if ((await written()).length === 0)
    return { ...(await earlierAnswer<Answer>(query, { actorId, key, action }, hash)), repeated: true }
  if (found.status === 'rejected') throw found.reason
  const { status, answer } = await work(found.value)
  await sendAhead(
    query,
    query
      .updateTable('idempotency_keys')
      .set({ status, answer: JSON.stringify(answer) })
      .where('actor_id', '=', actorId)
      .where('key', '=', key)
      .modifyEnd(preparedAhead)
      .compile(),
  )
  return { status, answer, repeated: false }
}

const preparedAhead = sql`${prepared}${ahead}`

async function earlierAnswer<Answer>(
  query: Transaction<Schema>,
  { actorId, key, action }: Omit<Keyed, 'request'>,
  hash: string,
): Promise<KeyedAnswer<Answer>> {
  const row = await query
    .selectFrom('idempotency_keys')
    .select(['action', 'request_hash', 'status', 'answer'])
    .where('actor_id', '=', actorId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow()
  if (row.action !== action || row.request_hash !== hash)
    throw new AgentGymError({
      code: 'idempotency_key_reused',
      message: `The Idempotency-Key came with another request before (${row.action}).`,
      hint: 'Make a new key for every request that is to do something; repeat a request with its own key only.',
      data: { action: row.action },
    })
  return { status: row.status, answer: row.answer as Answer }
}
