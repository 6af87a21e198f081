import { z } from 'zod'
import { eventTypeSchema } from './events.ts'
import { accountField, line, pageFields } from './fields.ts'

const moment = z.iso.datetime()
const urlField = line(z.string().min(1).max(2_000)).describe(
  'A public https address. The operator of the server can allow others.',
)
const descriptionField = line(z.string().trim().max(200))
const typesField = z.array(eventTypeSchema).min(1).max(50).nullable().describe('Null: all types.')

export const webhookSchema = z
  .object({
    id: z.uuid(),
    /** The account whose events it gets. */
    account: z.string(),
    url: z.string(),
    description: z.string(),
    types: z.array(eventTypeSchema).nullable(),
    /** Since when no delivery has succeeded; null if the last one did. */
    failing_since: moment.nullable(),
    disabled: z.object({ at: moment, reason: z.string() }).nullable(),
    created_at: moment,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof webhookSchema>

export const webhookListRequestSchema = z.object({ account: accountField })
export const webhookListSchema = z.object({ webhooks: z.array(webhookSchema) }).meta({ id: 'WebhookList' })

export const createWebhookRequestSchema = z.strictObject({
  account: accountField,
  url: urlField,
  description: descriptionField.default(''),
  types: typesField.default(null),
})
/** `secret`: `whsec_` and base64, shown once. */
export const createdWebhookSchema = webhookSchema.extend({ secret: z.string() }).meta({ id: 'CreatedWebhook' })
export const changeWebhookRequestSchema = z.strictObject({
  url: urlField.optional(),
  description: descriptionField.optional(),
  types: typesField.optional(),
  enabled: z.boolean().optional(),
})
export const webhookSecretSchema = z
  .object({
    secret: z.string(),
    /** Until then, deliveries are also signed with the previous secret. */
    previous_until: moment,
  })
  .meta({ id: 'WebhookSecret' })

export const webhookDeliverySchema = z
  .object({
    id: z.uuid(),
    /** The header `webhook-id`: the same for every attempt, and for every resend. */
    message_id: z.uuid(),
    type: eventTypeSchema,
    state: z.enum(['pending', 'delivered', 'failed']),
    /** When it is tried next; null unless pending. */
    next_at: moment.nullable(),
    /** Oldest first. */
    attempts: z.array(
      z.object({
        at: moment,
        /** HTTP status; null if there was no response. */
        status: z.int().nullable(),
        error: z.string().nullable(),
        duration_ms: z.int().nonnegative(),
      }),
    ),
    created_at: moment,
  })
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof webhookDeliverySchema>
export const webhookDeliveryListRequestSchema = z.object(pageFields)
export const webhookDeliveryListSchema = z
  .object({ deliveries: z.array(webhookDeliverySchema), next_cursor: z.string().nullable() })
  .meta({ id: 'WebhookDeliveryList' })
