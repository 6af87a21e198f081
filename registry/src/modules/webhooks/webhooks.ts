import {
  AgentGymError,
  type changeWebhookRequestSchema,
  type createWebhookRequestSchema,
  type Webhook,
} from '@agentgym/contract'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { z } from 'zod'
import { recordAudit } from '../../core/access/audit.ts'
import { type Actor, authorize, requireActor } from '../../core/access/authorize.ts'
import { seal } from '../../core/access/sealed.ts'
import type { Queries } from '../../core/database/database.ts'
import type { WebhookTable } from '../../core/database/event-schema.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { Services } from '../../core/services.ts'
import { findParty } from '../accounts/index.ts'
import { webhookSeal } from './deliver.ts'
import { makeWebhookSecret } from './sign-message.ts'
import type { WebhookSender } from './webhook-sender.ts'

export type WebhookServices = Services & { webhookSender: WebhookSender }
type Acting = { actor: Actor | null; ip: string }

const scope = 'account:manage'
const maxWebhooks = 20
/** How long the previous secret still signs after a rotation. */
const previousHours = 24

type WebhookRow = Selectable<WebhookTable> & { account: string }

const rows = (query: Queries) =>
  query
    .selectFrom('webhooks')
    .innerJoin('accounts', 'accounts.id', 'webhooks.account_id')
    .selectAll('webhooks')
    .select('accounts.username as account')

/** The webhooks of an account, oldest first, for its managers. */
export async function listWebhooks(
  { database: { query } }: Services,
  actor: Actor,
  account: string | undefined,
): Promise<Webhook[]> {
  const party = await findParty(query, actor, account, { permission: 'manage', scope })
  const found = await rows(query)
    .where('webhooks.account_id', '=', party.id)
    .orderBy('webhooks.created_at')
    .orderBy('webhooks.id')
    .execute()
  return found.map(webhookOf)
}

/** A webhook that the actor may manage. Throws `webhook_not_found`, also for those of other accounts. */
export async function findWebhook(query: Queries, actor: Actor | null, id: string): Promise<WebhookRow> {
  const known = requireActor(actor, scope)
  const row = await rows(query).where('webhooks.id', '=', id).executeTakeFirst()
  if (row === undefined) throw webhookNotFound(id)
  await authorize(query, known, 'manage', row.account_id, { scope }).catch((error: unknown) => {
    throw error instanceof AgentGymError && error.code === 'forbidden' ? webhookNotFound(id) : error
  })
  return row
}

/** Creates a webhook, with its secret, which is shown once. Throws `address_refused`, `webhook_state_conflict`. */
export async function createWebhook(
  { database, config, webhookSender }: WebhookServices,
  { actor, ip }: Acting,
  { account, url, description, types }: z.output<typeof createWebhookRequestSchema>,
): Promise<{ webhook: Webhook; secret: string }> {
  webhookSender.check(url)
  const secret = makeWebhookSecret()
  const webhook = await database.transaction(async (query) => {
    const party = await findParty(query, actor, account, { permission: 'manage', scope })
    await database.lock(query, `webhooks:${party.id}`)
    const { existing } = await query
      .selectFrom('webhooks')
      .select(({ fn }) => fn.countAll<number>().as('existing'))
      .where('account_id', '=', party.id)
      .executeTakeFirstOrThrow()
    if (Number(existing) >= maxWebhooks)
      throw conflict(`${party.username} has ${maxWebhooks} webhooks.`, 'Delete one first.')
    const id = crypto.randomUUID()
    await query
      .insertInto('webhooks')
      .values({
        ...{ id, account_id: party.id, url, description, types: types === null ? null : JSON.stringify(types) },
        sealed_secret: seal(webhookSeal(config, id), Buffer.from(secret)),
      })
      .execute()
    await audit(query, { actor, ip }, 'create', id, { account: party.username, url })
    return webhookOf(await findWebhook(query, actor, id))
  })
  return { webhook, secret }
}

/** Changes or re-enables a webhook. Throws `webhook_not_found`, `address_refused`. */
export async function changeWebhook(
  { database, webhookSender }: WebhookServices,
  { actor, ip }: Acting,
  id: string,
  { url, description, types, enabled }: z.output<typeof changeWebhookRequestSchema>,
): Promise<Webhook> {
  if (url !== undefined) webhookSender.check(url)
  return database.transaction(async (query) => {
    const before = await findWebhook(query, actor, id)
    await query
      .updateTable('webhooks')
      .set({
        url: url ?? before.url,
        description: description ?? before.description,
        ...(types === undefined ? {} : { types: types === null ? null : JSON.stringify(types) }),
        ...(enabled === true ? { disabled_at: null, disabled_reason: null, failing_since: null } : {}),
        ...(enabled === false && before.disabled_at === null
          ? { disabled_at: sql<Date>`now()`, disabled_reason: 'It was disabled by a user.' }
          : {}),
      })
      .where('id', '=', id)
      .execute()
    await audit(query, { actor, ip }, 'change', id, { url, description, types, enabled })
    return webhookOf(await findWebhook(query, actor, id))
  })
}

/** Deletes a webhook and its log. Throws `webhook_not_found`. */
export async function deleteWebhook({ database }: Services, { actor, ip }: Acting, id: string): Promise<void> {
  await database.transaction(async (query) => {
    const { account, url } = await findWebhook(query, actor, id)
    await query.deleteFrom('webhooks').where('id', '=', id).execute()
    await audit(query, { actor, ip }, 'delete', id, { account, url })
  })
}

/** Replaces the secret. The previous one signs as well for a day, so that receivers can change over. */
export async function rotateSecret(
  { database, config }: Services,
  { actor, ip }: Acting,
  id: string,
): Promise<{ secret: string; previousUntil: Date }> {
  const secret = makeWebhookSecret()
  return database.transaction(async (query) => {
    await findWebhook(query, actor, id)
    const { previous_until: previousUntil } = await query
      .updateTable('webhooks')
      .set((eb) => ({
        previous_sealed_secret: eb.ref('sealed_secret'),
        previous_until: sql<Date>`now() + ${previousHours} * interval '1 hour'`,
        sealed_secret: seal(webhookSeal(config, id), Buffer.from(secret)),
      }))
      .where('id', '=', id)
      .returning('previous_until')
      .executeTakeFirstOrThrow()
    if (previousUntil === null) throw new Error(`the webhook ${id} has no previous secret`)
    await audit(query, { actor, ip }, 'rotate_secret', id, {})
    return { secret, previousUntil }
  })
}

async function audit(
  query: Transaction<Schema>,
  { actor, ip }: Acting,
  verb: 'change' | 'create' | 'delete' | 'rotate_secret',
  id: string,
  data: Record<string, unknown>,
): Promise<void> {
  await recordAudit(query, { actor, ip, action: `webhook.${verb}`, subject: `webhook:${id}`, data })
}

export function webhookOf(row: WebhookRow): Webhook {
  const { id, account, url, description, types, disabled_at: disabledAt } = row
  return {
    ...{ id, account, url, description, types },
    failing_since: row.failing_since?.toISOString() ?? null,
    disabled: disabledAt === null ? null : { at: disabledAt.toISOString(), reason: row.disabled_reason ?? '' },
    created_at: row.created_at.toISOString(),
  }
}

function webhookNotFound(id: string): AgentGymError {
  return new AgentGymError({
    code: 'webhook_not_found',
    message: `Webhook ${id} does not exist, or you do not manage its account.`,
    hint: '`agentgym webhook list` lists your webhooks.',
    data: { id },
  })
}

export function conflict(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'webhook_state_conflict', message, hint })
}
