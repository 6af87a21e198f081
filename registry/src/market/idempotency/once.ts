import { AgentGymError } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { prepared } from '../../database/prepared-statements.ts'
import type { Schema } from '../../database/schema.ts'
import { requestHash } from '../../training/request-hash.ts'

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
 * Two round trips. Throws `idempotency_key_reused` where the key came with another request, and what `work` throws.
 */
export async function once<Answer extends Record<string, unknown>>(
  query: Transaction<Schema>,
  { actorId, key, action, request }: Keyed,
  work: () => Promise<KeyedAnswer<Answer>>,
): Promise<KeyedAnswer<Answer> & { repeated: boolean }> {
  const hash = requestHash(request)
  const first = await query
    .insertInto('idempotency_keys')
    .modifyEnd(prepared)
    .values({ actor_id: actorId, key, action, request_hash: hash, status: 0, answer: '{}' })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst()
  if (first === undefined)
    return { ...(await earlierAnswer<Answer>(query, { actorId, key, action }, hash)), repeated: true }
  const { status, answer } = await work()
  await query
    .updateTable('idempotency_keys')
    .modifyEnd(prepared)
    .set({ status, answer: JSON.stringify(answer) })
    .where('actor_id', '=', actorId)
    .where('key', '=', key)
    .execute()
  return { status, answer, repeated: false }
}

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
