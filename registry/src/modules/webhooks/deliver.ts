import { sql } from 'kysely'
import { type Seal, unseal } from '../../core/access/sealed.ts'
import type { Database } from '../../core/database/database.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import type { Services } from '../../core/services.ts'
import { recordEvent, type StoredEvent, type Subscriber } from '../events/index.ts'
import { signedHeaders } from './sign-message.ts'
import type { Sent, WebhookSender } from './webhook-sender.ts'

/** Seconds until the next attempt after each failed one, as the Standard Webhooks specification proposes. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 50_400, 72_000]
const maxAttempts = delaysSeconds.length + 1
/** A webhook that has failed for so long is disabled. */
const failingDays = 3
const sentAtOnce = 32
/** Of one webhook; one that fails gets one at a time, so that slow receivers do not delay others. */
const sentAtOncePerWebhook = 8
/** A delivery that was claimed and not recorded, because the server stopped, is due again after this. */
const claimMinutes = 2

/** Subscriber of events: creates a delivery for every webhook of the accounts that wants the type. */
export const queueDeliveries: Subscriber = async (query, { id, type }, accounts) => {
  if (accounts.length === 0) return
  await sql`
    insert into webhook_deliveries (webhook_id, event_id)
    select webhooks.id, ${id} from webhooks
    join accounts on accounts.id = webhooks.account_id and accounts.disabled_at is null
    where webhooks.account_id = any(${uuidArray(accounts)}) and webhooks.disabled_at is null
      and (types is null or types @> to_jsonb(${type}::text))
    on conflict do nothing`.execute(query)
}

export type DeliveryServices = Pick<Services, 'database' | 'config' | 'log'> & { webhookSender: WebhookSender }

/** Sends due deliveries until there are none. Replicas can do so at once: each claims its own. */
export async function sendDueDeliveries(services: DeliveryServices, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const claimed = await claimDue(services.database)
    await Promise.all(claimed.map((delivery) => deliver(services, delivery)))
    if (claimed.length === 0) return
  }
}

type Claimed = {
  id: string
  attempts: number
  webhook_id: string
  url: string
  sealed_secret: string
  previous_sealed_secret: string | null
  account: string
} & { event_id: string; type: StoredEvent['type']; data: StoredEvent['data']; event_at: Date }

async function claimDue({ query }: Database): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as (
      select id from (
        select deliveries.id, deliveries.next_at, webhooks.failing_since,
          row_number() over (partition by webhook_id order by deliveries.next_at, deliveries.id) as place
        from webhook_deliveries deliveries join webhooks on webhooks.id = deliveries.webhook_id
        where deliveries.state = 'pending' and deliveries.next_at <= now() and webhooks.disabled_at is null
      ) placed
      where place <= case when failing_since is null then ${sentAtOncePerWebhook}::int else 1 end
      order by next_at limit ${sentAtOnce}
    ), claimed as (
      update webhook_deliveries set attempts = attempts + 1, next_at = now() + ${claimMinutes} * interval '1 minute'
      where id in (select id from due) and state = 'pending' and next_at <= now()
      returning id, attempts, webhook_id, event_id
    )
    select claimed.*, webhooks.url, webhooks.sealed_secret, accounts.username as account,
      case when webhooks.previous_until > now() then webhooks.previous_sealed_secret end as previous_sealed_secret,
      events.type, events.data, events.created_at as event_at
    from claimed join webhooks on webhooks.id = claimed.webhook_id join events on events.id = claimed.event_id
    join accounts on accounts.id = webhooks.account_id`.execute(query)
  return rows
}

async function deliver(services: DeliveryServices, delivery: Claimed): Promise<void> {
  const { config, webhookSender } = services
  const { event_id: id, type, data, event_at, account, url } = delivery
  // The same bytes at every attempt.
  const body = JSON.stringify({ type, timestamp: event_at.toISOString(), account, data })
  const secrets = [delivery.sealed_secret, delivery.previous_sealed_secret].flatMap((sealed) => {
    const plain = sealed === null ? undefined : unseal(webhookSeal(config, delivery.webhook_id), sealed)
    return plain === undefined ? [] : [plain.toString()]
  })
  const sent: Sent =
    secrets.length === 0
      ? { status: null, error: 'Its secret cannot be read. Rotate it.', retryAfterSeconds: null, durationMs: 0 }
      : await webhookSender.send(
          url,
          body,
          signedHeaders({ id, timestampSeconds: Math.floor(Date.now() / 1_000), body }, secrets),
        )
  await recordAttempt(services, delivery, sent)
}

export function webhookSeal({ secret }: Pick<Services['config'], 'secret'>, id: string): Seal {
  return { secret, purpose: 'webhook', id }
}

async function recordAttempt(
  { database, log }: Pick<Services, 'database' | 'log'>,
  { id, attempts, webhook_id: webhookId, url, account }: Claimed,
  { status, error, retryAfterSeconds, durationMs }: Sent,
): Promise<void> {
  const delivered = status !== null && status >= 200 && status < 300
  const over = !delivered && attempts >= maxAttempts
  const delay = Math.max(delaysSeconds[attempts - 1] ?? 0, Math.min(retryAfterSeconds ?? 0, 86_400))
  // A tenth earlier or later, so that messages of one outage do not all come back at once.
  const delaySeconds = delay * (0.9 + Math.random() * 0.2)
  await database.transaction(async (query) => {
    const webhook = await query
      .selectFrom('webhooks')
      .select('id')
      .where('id', '=', webhookId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    // Deleted in the meantime, with its deliveries.
    if (webhook === undefined) return
    await query
      .insertInto('webhook_attempts')
      .values({ delivery_id: id, status, error, duration_ms: durationMs })
      .execute()
    await query
      .updateTable('webhook_deliveries')
      .set({
        state: delivered ? 'delivered' : over ? 'failed' : 'pending',
        next_at: sql<Date>`now() + ${delaySeconds} * interval '1 second'`,
      })
      .where('id', '=', id)
      // Not if it was claimed again, or resent, in the meantime.
      .where('attempts', '=', attempts)
      .where('state', '=', 'pending')
      .execute()
    if (delivered) {
      await query
        .updateTable('webhooks')
        .set({ failing_since: null })
        .where('id', '=', webhookId)
        .where('failing_since', 'is not', null)
        .execute()
      return
    }
    const why = error ?? `It answers with status ${status}.`
    const disabled = await query
      .updateTable('webhooks')
      .set({
        failing_since: sql<Date>`coalesce(failing_since, now())`,
        ...disabling(status === 410 ? 'The receiver answers with status 410: it is gone.' : undefined, why),
      })
      .where('id', '=', webhookId)
      .where('disabled_at', 'is', null)
      .returning(['account_id', 'disabled_reason'])
      .executeTakeFirst()
    const reason = disabled?.disabled_reason ?? null
    if (disabled === undefined || reason === null) return
    await query
      .updateTable('webhook_deliveries')
      .set({ state: 'failed' })
      .where('webhook_id', '=', webhookId)
      .where('state', '=', 'pending')
      .execute()
    await recordEvent(query, {
      ...{ type: 'webhook.disabled', accountId: disabled.account_id },
      data: { webhook: webhookId, url, account, reason },
    })
    log.info('a webhook was disabled', { webhook: webhookId, reason })
  })
}

/** Disables it at once for the reason `gone`, or else if it has failed for long enough. */
function disabling(gone: string | undefined, why: string) {
  const reason = gone ?? `No delivery has succeeded for ${failingDays} days. ${why}`
  const due =
    gone === undefined
      ? sql<boolean>`failing_since < now() - ${failingDays}::int * interval '1 day'`
      : sql<boolean>`true`
  return {
    disabled_at: sql<Date | null>`case when ${due} then now() end`,
    disabled_reason: sql<string | null>`case when ${due} then ${reason}::text end`,
  }
}
