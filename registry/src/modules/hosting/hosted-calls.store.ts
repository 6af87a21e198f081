import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'
import { agentUnavailable, keyReused } from './call-failures.ts'

type NewCall = {
  id: string
  accountId: string
  tokenId: string | null
  row: { id: string; package_id: string }
  because: 'own' | 'free' | 'bought' | 'trial'
  priceMinor: number
  currency: string
  keyed: boolean
  hash: string
  /** Observation and mask, as JSON. */
  request: string
}

/** Throws `idempotency_key_reused` if another account has used the ID at the same moment. */
export async function insertCall(
  query: Transaction<Schema>,
  call: NewCall,
  { waitMs }: { waitMs: number },
): Promise<void> {
  const inserted = await query
    .insertInto('hosted_calls')
    .values({
      ...{ id: call.id, account_id: call.accountId, token_id: call.tokenId },
      ...{ package_id: call.row.package_id, version_id: call.row.id },
      ...{ because: call.because, price_minor: call.priceMinor, currency: call.currency },
      keyed: call.keyed,
      ...{ request_hash: call.hash, request: call.request },
      expires_at: sql<Date>`now() + ${waitMs} * interval '1 millisecond'`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined) throw keyReused(call.id, 'was already used for a different call')
}

/**
 * A call's result: undefined while it is pending, null if it no longer exists. Throws the call's error if it failed.
 */
export async function readAnswer(query: Kysely<Schema>, id: string): Promise<string | null | undefined> {
  const row = await query
    .selectFrom('hosted_calls')
    .select(['state', 'answer', 'error'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return null
  if (row.error !== null) throw new AgentGymError(JSON.parse(row.error) as ErrorReport)
  return row.answer ?? undefined
}

/** The given calls that have not ended. */
export async function stillOpen(query: Kysely<Schema>, ids: string[]): Promise<Set<string>> {
  const rows = await query
    .selectFrom('hosted_calls')
    .select('id')
    .where('id', 'in', ids)
    .where('ended_at', 'is', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Deletes a call that has no waiter left, unless a worker has leased it. */
export async function dropCall(query: Kysely<Schema>, id: string): Promise<void> {
  await query.deleteFrom('hosted_calls').where('id', '=', id).where('state', '=', 'waiting').execute()
}

/**
 * Ends calls that were not answered in time: the given one, or all that cannot have a waiter anymore. Later answers are
 * ignored, so nothing is charged.
 */
export async function endUnanswered(query: Kysely<Schema>, which: { id: string } | 'expired'): Promise<void> {
  const { rows } = await sql<{ id: string; name: string; version: string; attempts: number }>`
    select hosted_calls.id, packages.name, versions.version, attempts
    from hosted_calls join packages on packages.id = hosted_calls.package_id join versions on versions.id = version_id
    where hosted_calls.state in ('waiting', 'leased')
      and ${which === 'expired' ? sql`expires_at < now()` : sql`hosted_calls.id = ${which.id}`}
    order by hosted_calls.id limit 1000`.execute(query)
  for (const { id, attempts, ...called } of rows) {
    const error = JSON.stringify(agentUnavailable(called, attempts > 0).toReport())
    await query
      .updateTable('hosted_calls')
      .set({ state: 'failed', error, request: null, ended_at: sql<Date>`now()` })
      .where('id', '=', id)
      .where('state', 'in', ['waiting', 'leased'])
      .execute()
  }
}

/** Answers to retryable calls are kept for an hour, others until they are read. */
export async function forgetCalls(query: Kysely<Schema>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      delete from hosted_calls where id in (
        select id from hosted_calls where ended_at < now() - interval '2 minutes'
          and (not keyed or ended_at < now() - interval '1 hour') limit 1000)
      returning id`.execute(query)
    if (rows.length < 1_000) return
  }
}
