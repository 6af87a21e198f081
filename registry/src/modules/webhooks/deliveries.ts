import { AgentGymError, type WebhookDelivery } from '@agentgym/contract'
import type { Selectable } from 'kysely'
import { type RawBuilder, sql } from 'kysely'
import type { Actor } from '../../core/access/authorize.ts'
import type { Queries } from '../../core/database/database.ts'
import type { EventTable, WebhookDeliveryTable } from '../../core/database/event-schema.ts'
import { afterPageEnd, type PageEnd } from '../../core/database/page-cursor.ts'
import type { Services } from '../../core/services.ts'
import { conflict, findWebhook } from './webhooks.ts'

export type DeliveryRow = Selectable<WebhookDeliveryTable> & {
  type: Selectable<EventTable>['type']
  /** Times as JSON has them. */
  log: { at: string; status: number | null; error: string | null; duration_ms: number }[] | null
}

function deliveries(query: Queries, where: RawBuilder<boolean>, limit: number): Promise<{ rows: DeliveryRow[] }> {
  return sql<DeliveryRow>`
    select webhook_deliveries.*, events.type, (
      select json_agg(json_build_object('at', at, 'status', status, 'error', error, 'duration_ms', duration_ms) order by id)
      from webhook_attempts where delivery_id = webhook_deliveries.id) as log
    from webhook_deliveries join events on events.id = webhook_deliveries.event_id
    where ${where}
    order by webhook_deliveries.created_at desc, webhook_deliveries.id desc limit ${limit}`.execute(query)
}

/** Newest first. */
export async function listDeliveries(
  query: Queries,
  webhookId: string,
  { after, limit }: { after: PageEnd | null; limit: number },
): Promise<DeliveryRow[]> {
  const where = sql<boolean>`webhook_id = ${webhookId} and ${afterPageEnd('webhook_deliveries', after)}`
  return (await deliveries(query, where, limit)).rows
}

/**
 * Sends an event again, under the same message id. Throws `webhook_not_found`, `webhook_delivery_not_found`, and
 * `webhook_state_conflict` if the webhook is disabled.
 */
export async function resend(
  { database }: Pick<Services, 'database'>,
  actor: Actor | null,
  { webhook, delivery }: { webhook: string; delivery: string },
): Promise<WebhookDelivery> {
  return database.transaction(async (query) => {
    requireEnabled(await findWebhook(query, actor, webhook))
    await query
      .updateTable('webhook_deliveries')
      .set({ state: 'pending', attempts: 0, next_at: sql<Date>`now()` })
      .where('id', '=', delivery)
      .where('webhook_id', '=', webhook)
      .execute()
    return readDelivery(query, { webhook, delivery })
  })
}

/** Sends a message of the type `webhook.test`. Throws like `resend`. */
export async function sendTest(
  { database }: Pick<Services, 'database'>,
  actor: Actor | null,
  webhook: string,
): Promise<WebhookDelivery> {
  return database.transaction(async (query) => {
    const found = await findWebhook(query, actor, webhook)
    requireEnabled(found)
    const now = sql<Date>`now()`
    const { id } = await query
      .insertInto('events')
      // Distributed: it is for this webhook alone.
      .values({
        ...{ type: 'webhook.test', account_id: found.account_id, distributed_at: now },
        data: JSON.stringify({ webhook }),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const { id: delivery } = await query
      .insertInto('webhook_deliveries')
      .values({ webhook_id: webhook, event_id: id })
      .returning('id')
      .executeTakeFirstOrThrow()
    return readDelivery(query, { webhook, delivery })
  })
}

function requireEnabled({ id, disabled_at: disabledAt }: { id: string; disabled_at: Date | null }): void {
  if (disabledAt !== null)
    throw conflict(`Webhook ${id} is disabled.`, 'Enable it first: `agentgym webhook enable ID`.')
}

async function readDelivery(
  query: Queries,
  { webhook, delivery }: { webhook: string; delivery: string },
): Promise<WebhookDelivery> {
  const where = sql<boolean>`webhook_deliveries.id = ${delivery} and webhook_id = ${webhook}`
  const [row] = (await deliveries(query, where, 1)).rows
  if (row !== undefined) return deliveryOf(row)
  throw new AgentGymError({
    code: 'webhook_delivery_not_found',
    message: `Webhook ${webhook} has no delivery ${delivery}.`,
    hint: '`agentgym webhook deliveries ID` lists those of the last 90 days.',
    data: { id: delivery },
  })
}

export function deliveryOf({ id, event_id, type, state, next_at, created_at, log }: DeliveryRow): WebhookDelivery {
  return {
    ...{ id, message_id: event_id, type, state },
    next_at: state === 'pending' ? next_at.toISOString() : null,
    attempts: (log ?? []).map(({ at, ...attempt }) => ({ at: new Date(at).toISOString(), ...attempt })),
    created_at: created_at.toISOString(),
  }
}
