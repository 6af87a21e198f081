import type { EventData, EventType, NotificationTopic } from '@agentgym/contract'
import type { ColumnType, Generated, JSONColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type CreatedAt = ColumnType<Date, Date | undefined, never>
type Id = ColumnType<string, string | undefined, never>
type Nullable<Type> = ColumnType<Type | null, Type | null | undefined, Type | null>

/** What happened to an account, until it has been distributed and for a while after. */
export type EventTable = {
  id: Id
  type: Fixed<EventType>
  account_id: Fixed<string>
  /** Notified instead of the managers of the account. */
  user_id: ColumnType<string | null, string | null | undefined, never>
  data: JSONColumnType<EventData[EventType], string, never>
  attempts: Generated<number>
  created_at: CreatedAt
  /** When notifications and webhook deliveries were created for it. */
  distributed_at: Nullable<Date>
}

export type NotificationTable = {
  id: Id
  /** The user. */
  account_id: Fixed<string>
  event_id: Fixed<string>
  topic: Fixed<NotificationTopic>
  shown: Fixed<boolean>
  email: 'none' | 'pending' | 'sent' | 'dropped'
  read_at: Nullable<Date>
  created_at: CreatedAt
}

/** A user's choice for a topic; the defaults apply without a row. */
export type NotificationSettingTable = {
  account_id: Fixed<string>
  topic: Fixed<NotificationTopic>
  site: boolean
  email: boolean
}

/** When the next email may be sent to a user. */
export type NotificationMailboxTable = {
  account_id: Fixed<string>
  next_at: Generated<Date>
  failures: Generated<number>
}

/** Where the events of an account are posted. */
export type WebhookTable = {
  id: Id
  account_id: Fixed<string>
  url: string
  description: string
  /** Null: all types. */
  types: ColumnType<EventType[] | null, string | null | undefined, string | null>
  sealed_secret: string
  /** Signs as well until `previous_until`. */
  previous_sealed_secret: Nullable<string>
  previous_until: Nullable<Date>
  /** Since the first failed attempt after the last success. */
  failing_since: Nullable<Date>
  disabled_at: Nullable<Date>
  disabled_reason: Nullable<string>
  created_at: CreatedAt
}

/** An event for a webhook. Its id is the delivery's own; messages carry the event's. */
export type WebhookDeliveryTable = {
  id: Id
  webhook_id: Fixed<string>
  event_id: Fixed<string>
  state: ColumnType<'pending' | 'delivered' | 'failed', undefined, 'pending' | 'delivered' | 'failed'>
  attempts: Generated<number>
  /** When it is due, while it is pending. */
  next_at: Generated<Date>
  created_at: CreatedAt
}

export type WebhookAttemptTable = {
  id: ColumnType<number, never, never>
  delivery_id: Fixed<string>
  at: CreatedAt
  /** HTTP status; null if there was no response. */
  status: Fixed<number | null>
  error: Fixed<string | null>
  duration_ms: Fixed<number>
}

export type EventSchema = {
  events: EventTable
  notifications: NotificationTable
  notification_settings: NotificationSettingTable
  notification_mailboxes: NotificationMailboxTable
  webhooks: WebhookTable
  webhook_deliveries: WebhookDeliveryTable
  webhook_attempts: WebhookAttemptTable
}
