import {
  type NotificationSettings,
  type NotificationTopic,
  notificationTopicSchema,
  notificationTopics,
} from '@agentgym/contract'
import { sql, type Transaction } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { afterPageEnd, type PageEnd } from '../../core/database/page-cursor.ts'
import type { Schema } from '../../core/database/schema.ts'
import { uuidArray } from '../../core/database/uuid-array.ts'
import type { StoredEvent } from '../events/index.ts'
import { topicOf } from './describe-event.ts'

/** Topics that cannot be turned off: users must know why their package is gone, or a webhook is silent. */
export const requiredTopics: ReadonlySet<NotificationTopic> = new Set(['webhooks', 'moderation'])

/**
 * Subscriber of events: creates a notification for each user that the event concerns, on the channels they chose.
 * Optional topics are mailed to confirmed addresses only, so that no one is sent mail by another user's typing error.
 */
export async function notifyUsers(
  query: Transaction<Schema>,
  { id, type, user_id: userId, data }: StoredEvent,
  accounts: readonly string[],
): Promise<void> {
  // The user who canceled it knows.
  if (type === 'run.ended' && 'state' in data && data.state === 'cancelled') return
  const topic = topicOf[type]
  if (topic === null) return
  const required = requiredTopics.has(topic)
  const concerned = userId === null ? accounts : [userId]
  await sql`
    insert into notifications (account_id, event_id, topic, shown, email)
    select users.id, ${id}, ${topic}, ${required} or coalesce(settings.site, true),
      case when users.email is not null and (${required}
        or (users.email_verified_at is not null and coalesce(settings.email, true))) then 'pending' else 'none' end
    from accounts users
    left join notification_settings settings on settings.account_id = users.id and settings.topic = ${topic}
    where users.kind = 'user' and users.disabled_at is null and users.id in (
      select unnest(${uuidArray(concerned)})
      union select user_id from memberships
        where organisation_id = any(${uuidArray(concerned)}) and role in ('owner', 'admin')
    ) and (${required} or coalesce(settings.site, true)
      or (users.email_verified_at is not null and coalesce(settings.email, true)))
    on conflict do nothing`.execute(query)
}

type ListedNotification = {
  id: string
  topic: NotificationTopic
  read_at: Date | null
  created_at: Date
} & Pick<StoredEvent, 'type' | 'data'>

/** A user's notifications on the site, newest first. */
export function listNotifications(
  query: Queries,
  accountId: string,
  { unread, after, limit }: { unread: boolean; after: PageEnd | null; limit: number },
): Promise<ListedNotification[]> {
  return query
    .selectFrom('notifications')
    .innerJoin('events', 'events.id', 'notifications.event_id')
    .select(['notifications.id', 'notifications.topic', 'notifications.read_at', 'notifications.created_at'])
    .select(['events.type', 'events.data'])
    .where('notifications.account_id', '=', accountId)
    .where('notifications.shown', '=', true)
    .$if(unread, (select) => select.where('notifications.read_at', 'is', null))
    .where(afterPageEnd('notifications', after))
    .orderBy('notifications.created_at', 'desc')
    .orderBy('notifications.id', 'desc')
    .limit(limit)
    .execute()
}

/** Marks the user's notifications as read: all, or those with these ids. Ids of others are ignored. */
export async function markRead(query: Queries, accountId: string, ids?: readonly string[]): Promise<void> {
  await query
    .updateTable('notifications')
    .set({ read_at: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('read_at', 'is', null)
    .$if(ids !== undefined, (update) => update.where('id', 'in', [...(ids ?? [])]))
    .execute()
}

/** Unread notifications of a user, counted up to 100. */
export async function countUnread(query: Queries, accountId: string): Promise<number> {
  const { rows } = await sql<{ unread: number }>`select count(*)::int as unread from (
    select from notifications where account_id = ${accountId} and shown and read_at is null limit 100) counted`.execute(
    query,
  )
  return rows[0].unread
}

type Channels = { site: boolean; email: boolean }

export async function readSettings(query: Queries, accountId: string): Promise<NotificationSettings> {
  const chosen = await query
    .selectFrom('notification_settings')
    .select(['topic', 'site', 'email'])
    .where('account_id', '=', accountId)
    .execute()
  return {
    settings: notificationTopicSchema.options.map((topic) => {
      const { site = true, email = true } = chosen.find((row) => row.topic === topic) ?? {}
      const required = requiredTopics.has(topic)
      return { topic, title: notificationTopics[topic], site: required || site, email: required || email, required }
    }),
  }
}

/** Stores a user's choice. Mail of the topic that is still waiting is dropped if they no longer want it. */
export async function writeSetting(
  query: Transaction<Schema>,
  { accountId, topic }: { accountId: string; topic: NotificationTopic },
  channels: Channels,
): Promise<void> {
  await query
    .insertInto('notification_settings')
    .values({ account_id: accountId, topic, ...channels })
    .onConflict((conflict) => conflict.columns(['account_id', 'topic']).doUpdateSet(channels))
    .execute()
  if (channels.email) return
  await query
    .updateTable('notifications')
    .set({ email: 'dropped' })
    .where('account_id', '=', accountId)
    .where('topic', '=', topic)
    .where('email', '=', 'pending')
    .execute()
}

const keptNotifications = 500

/** Keeps each user's newest 500 notifications. Those that wait for mail stay until it is sent. */
export async function forgetNotifications(query: Queries): Promise<void> {
  await sql`
    delete from notifications where id in (
      select id from (
        select id, email, row_number() over (partition by account_id order by created_at desc, id desc) as place
        from notifications) numbered
      where place > ${keptNotifications} and email <> 'pending')`.execute(query)
}
