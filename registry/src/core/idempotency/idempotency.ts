import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Schema } from '../database/schema.ts'
import type { ScheduledTask } from '../scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../services.ts'

export type IdempotentRequest = {
  actorId: string
  /** The client's key, from the header Idempotency-Key. */
  key: string
  /** Kind of request, such as `order.place`. Each kind has its own keys. */
  action: string
  request: Record<string, unknown>
}

export type Answer<Body> = { status: number; answer: Body }

/**
 * Runs `work` once for each actor and key, and returns the stored answer to every repetition. Call it first in the
 * transaction: it inserts the key's row, so a concurrent request with the same key waits for this one, and the key is
 * stored only together with all of the work. A failure is not stored, because it changed nothing.
 *
 * Throws `idempotency_key_reused` if the key was used for a different request, and what `work` throws.
 */
export async function withIdempotencyKey<Body extends Record<string, unknown>>(
  query: Transaction<Schema>,
  { actorId, key, action, request }: IdempotentRequest,
  work: () => Promise<Answer<Body>>,
): Promise<Answer<Body> & { repeated: boolean }> {
  const hash = requestHash(request)
  const inserted = await query
    .insertInto('idempotency_keys')
    .values({ actor_id: actorId, key, action, request_hash: hash, status: 0, answer: '{}' })
    .onConflict((conflict) => conflict.doNothing())
    .returning('key')
    .executeTakeFirst()
  if (inserted === undefined) {
    const first = await query
      .selectFrom('idempotency_keys')
      .select(['action', 'request_hash', 'status', 'answer'])
      .where('actor_id', '=', actorId)
      .where('key', '=', key)
      .executeTakeFirstOrThrow()
    if (first.action !== action || first.request_hash !== hash)
      throw idempotencyKeyReused(` (${first.action})`, { action: first.action })
    return { status: first.status, answer: first.answer as Body, repeated: true }
  }
  const { status, answer } = await work()
  await query
    .updateTable('idempotency_keys')
    .set({ status, answer: JSON.stringify(answer) })
    .where('actor_id', '=', actorId)
    .where('key', '=', key)
    .execute()
  return { status, answer, repeated: false }
}

/** `first`: the first use of the key, as the end of the sentence. */
export function idempotencyKeyReused(first: string, data: Record<string, unknown>): AgentGymError {
  return new AgentGymError({
    code: 'idempotency_key_reused',
    message: `The Idempotency-Key was already used for a different request${first}.`,
    hint: 'Use a new key for each request. Reuse a key only to retry the same request.',
    data,
  })
}

/** SHA-256 (hex) of a request, independent of the order of its fields. */
export function requestHash(request: Record<string, unknown>): string {
  return createHash('sha256')
    .update(JSON.stringify(ordered(request)))
    .digest('hex')
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  // As pairs: an object would put number-like keys first and lose `__proto__`.
  return Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, ordered(part)])
}

const keptDays = 30

export function idempotencyTasks(services: Pick<Services, 'database'>): ScheduledTask[] {
  return [{ name: 'market.idempotency-keys', everyMs: 3_600_000, run: () => deleteOldKeys(services) }]
}

/** Deletes keys that are older than 30 days, in batches. */
export async function deleteOldKeys({ database }: Pick<Services, 'database'>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ key: string }>`
      delete from idempotency_keys where (actor_id, key) in (
        select actor_id, key from idempotency_keys
        where created_at < now() - ${keptDays} * interval '1 day' limit 1000)
      returning key`.execute(database.query)
    if (rows.length < 1_000) return
  }
}
