import { type Selectable, sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import type { EventTable } from '../../core/database/event-schema.ts'
import type { Schema } from '../../core/database/schema.ts'
import { outageIn } from '../../core/dependencies/outage.ts'
import { describe } from '../../core/http/answer-error.ts'
import type { Services } from '../../core/services.ts'

export type StoredEvent = Pick<Selectable<EventTable>, 'id' | 'type' | 'account_id' | 'user_id' | 'data' | 'created_at'>

/**
 * Stores what follows from an event: notifications, deliveries. Runs in the transaction that marks the event as
 * distributed, so it runs again only if nothing of it was stored. `accounts`: those that the event concerns.
 */
export type Subscriber = (query: Transaction<Schema>, event: StoredEvent, accounts: readonly string[]) => Promise<void>

/** An event that fails this often has met a bug, and stays for inspection. */
const maxAttempts = 10

/** Distributes pending events, oldest first, each in one transaction. Replicas can do so at once. */
export async function distributeEvents(
  { database, log }: Pick<Services, 'database' | 'log'>,
  subscribers: readonly Subscriber[],
  signal?: AbortSignal,
): Promise<void> {
  const failed: string[] = []
  while (!signal?.aborted) {
    let taken: StoredEvent | undefined
    try {
      taken = await database.transaction(async (query) => {
        const event = await takePending(query, failed)
        if (event === undefined) return undefined
        taken = event
        const accounts = await concernedAccounts(query, event)
        for (const subscriber of subscribers) await subscriber(query, event, accounts)
        await query.updateTable('events').set({ distributed_at: sql<Date>`now()` }).where('id', '=', event.id).execute()
        return event
      })
      if (taken === undefined) return
    } catch (error) {
      if (taken === undefined || outageIn(error) !== undefined) throw error
      failed.push(taken.id)
      log.error('an event was not distributed', { event: taken.id, type: taken.type, error: describe(error) })
      await database.query
        .updateTable('events')
        .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
        .where('id', '=', taken.id)
        .execute()
    }
  }
}

function takePending(query: Transaction<Schema>, failed: string[]): Promise<StoredEvent | undefined> {
  return query
    .selectFrom('events')
    .select(['id', 'type', 'account_id', 'user_id', 'data', 'created_at'])
    .where('distributed_at', 'is', null)
    .where('attempts', '<', maxAttempts)
    .$if(failed.length > 0, (select) => select.where('id', 'not in', failed))
    .orderBy('attempts')
    .orderBy('created_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
}

/** The account that it happened to; for a price, the accounts that use the package. */
async function concernedAccounts(
  query: Queries,
  { type, account_id: accountId, data }: StoredEvent,
): Promise<string[]> {
  if (type !== 'price.announced' || !('package' in data)) return [accountId]
  const { rows } = await sql<{ account_id: string }>`
    with announced as (select id from packages where name = ${data.package})
    select distinct account_id from (
      select holder_id as account_id from entitlements join announced on announced.id = package_id
        where revoked_at is null
      union all select account_id from package_users join announced on announced.id = package_id
      union all select account_id from trials join announced on announced.id = package_id
      union all select account_id from usage_batches join announced on announced.id = package_id
        where usage_batches.created_at > now() - interval '90 days'
      union all select account_id from usage_events join announced on announced.id = package_id where batch_id is null
      union all select training_runs.owner_id from training_runs
        join versions on versions.id = training_runs.scenario_version_id
        join announced on announced.id = versions.package_id
        where training_runs.created_at > now() - interval '90 days'
    ) users where account_id <> ${accountId}`.execute(query)
  return rows.map(({ account_id }) => account_id)
}

const keptDays = 90

/** Deletes distributed events after 90 days, and with them their notifications and deliveries. */
export async function forgetEvents({ database }: Pick<Services, 'database'>): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      delete from events where id in (
        select id from events where distributed_at is not null and created_at < now() - ${keptDays} * interval '1 day'
        limit 1000)
      returning id`.execute(database.query)
    if (rows.length < 1_000) return
  }
}
