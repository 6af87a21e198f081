import type { EventData, EventType } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import type { Schema } from '../../core/database/schema.ts'

/** `data` by type. `accountId`: the account that it happened to. `userId`: notified instead of the account's managers. */
export type NewEvent = {
  [Type in EventType]: { type: Type; accountId: string; userId?: string; data: EventData[Type] }
}[EventType]

/**
 * Records an event in the transaction of what it reports, so that neither exists without the other. A scheduled task
 * turns it into notifications and webhook deliveries.
 */
export async function recordEvent(
  query: Transaction<Schema>,
  { type, accountId, userId, data }: NewEvent,
): Promise<void> {
  await query
    .insertInto('events')
    .values({ type, account_id: accountId, user_id: userId ?? null, data: JSON.stringify(data) })
    .execute()
}
