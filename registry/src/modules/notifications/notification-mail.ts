import { type NotificationTopic, notificationTopics } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database, Queries } from '../../core/database/database.ts'
import { outageIn } from '../../core/dependencies/outage.ts'
import { describe } from '../../core/http/answer-error.ts'
import type { MailMessage, Services } from '../../core/services.ts'
import type { StoredEvent } from '../events/index.ts'
import { describeEvent } from './describe-event.ts'
import { requiredTopics } from './notifications.store.ts'
import { unsubscribeToken } from './unsubscribe.ts'

/** A user gets at most one email in this time; what comes in between is one digest. */
const quietMinutes = 15
/** Mail that could not be sent for so long is dropped: the notification stays on the site. */
const maxAgeDays = 3
/** Notifications that a digest lists; it counts the others. */
const listedInMail = 20
const maxPerMail = 1_000
const sentAtOnce = 10

type Mailing = Pick<Services, 'database' | 'mail' | 'config' | 'log'>

/**
 * Sends pending email, one message per user. A user's mailbox is claimed before its message is sent and the notifications
 * are marked afterwards: after a crash in between, the same message is sent again, under the same Message-ID.
 */
export async function sendPendingMail(services: Mailing, signal?: AbortSignal): Promise<void> {
  const { query } = services.database
  await dropOldMail(query)
  while (!signal?.aborted) {
    const waiting = await waitingUsers(query, sentAtOnce)
    const sent = await Promise.all(waiting.map((accountId) => mailUser(services, accountId)))
    // A mail server that fails is asked again by the next run.
    if (waiting.length < sentAtOnce || sent.includes('failed')) return
  }
}

async function dropOldMail(query: Queries): Promise<void> {
  await sql`update notifications set email = 'dropped'
    where email = 'pending' and created_at < now() - ${maxAgeDays} * interval '1 day'`.execute(query)
}

async function waitingUsers(query: Queries, limit: number): Promise<string[]> {
  const { rows } = await sql<{ account_id: string }>`
    select account_id from (select distinct account_id from notifications where email = 'pending') waiting
    where not exists (select from notification_mailboxes boxes
      where boxes.account_id = waiting.account_id and boxes.next_at > now())
    limit ${limit}`.execute(query)
  return rows.map(({ account_id }) => account_id)
}

async function mailUser(services: Mailing, accountId: string): Promise<'sent' | 'failed' | 'nothing'> {
  const { database, mail, log } = services
  const failures = await claimMailbox(database, accountId)
  if (failures === undefined) return 'nothing'
  const pending = await pendingMail(database.query, accountId)
  if (pending === undefined) return 'nothing'
  const ids = pending.notifications.map(({ id }) => id)
  try {
    await mail.send(composeMail(services.config, { accountId, ...pending }))
  } catch (error) {
    if (outageIn(error) !== undefined) throw error
    log.warn('an email was not sent', { account: pending.username, failures: failures + 1, error: describe(error) })
    await database.query
      .updateTable('notification_mailboxes')
      .set({
        failures: failures + 1,
        next_at: sql<Date>`now() + ${Math.min(2 ** failures, 360)} * interval '1 minute'`,
      })
      .where('account_id', '=', accountId)
      .execute()
    return 'failed'
  }
  await database.query.updateTable('notifications').set({ email: 'sent' }).where('id', 'in', ids).execute()
  if (failures > 0)
    await database.query
      .updateTable('notification_mailboxes')
      .set({ failures: 0 })
      .where('account_id', '=', accountId)
      .execute()
  return 'sent'
}

/** The number of failures before; undefined if another process has it, or the last email is recent. */
async function claimMailbox({ query }: Database, accountId: string): Promise<number | undefined> {
  const nextAt = sql<Date>`now() + ${quietMinutes} * interval '1 minute'`
  const claimed = await query
    .insertInto('notification_mailboxes')
    .values({ account_id: accountId, next_at: nextAt })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet({ next_at: nextAt })
        .where('notification_mailboxes.next_at', '<=', sql<Date>`now()`),
    )
    .returning('failures')
    .executeTakeFirst()
  return claimed?.failures
}

type Pending = Pick<StoredEvent, 'type' | 'data'> & { id: string; topic: NotificationTopic }
type Recipient = { username: string; email: string }

async function pendingMail(
  query: Queries,
  accountId: string,
): Promise<(Recipient & { notifications: Pending[] }) | undefined> {
  const account = await query
    .selectFrom('accounts')
    .select(['username', 'email', 'disabled_at'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (account.email === null || account.disabled_at !== null) {
    await query
      .updateTable('notifications')
      .set({ email: 'dropped' })
      .where('account_id', '=', accountId)
      .where('email', '=', 'pending')
      .execute()
    return undefined
  }
  const notifications = await query
    .selectFrom('notifications')
    .innerJoin('events', 'events.id', 'notifications.event_id')
    .select(['notifications.id', 'notifications.topic', 'events.type', 'events.data'])
    .where('notifications.account_id', '=', accountId)
    .where('notifications.email', '=', 'pending')
    .orderBy('notifications.created_at', 'desc')
    .orderBy('notifications.id', 'desc')
    .limit(maxPerMail)
    .execute()
  return notifications.length === 0 ? undefined : { username: account.username, email: account.email, notifications }
}

type Composing = Recipient & { accountId: string; notifications: Pending[] }

/** One message about one or more notifications, newest first, with headers to unsubscribe (RFC 8058). */
function composeMail(
  { publicUrl, secret }: Pick<Services['config'], 'publicUrl' | 'secret'>,
  { accountId, username, email, notifications }: Composing,
): MailMessage {
  const items = notifications.slice(0, listedInMail).map(({ type, data }) => {
    const { title, text, path } = describeEvent(type, data as never)
    return { title, body: [title, ...(text === '' ? [] : [text]), publicUrl + path].join('\n') }
  })
  const others = notifications.length - items.length
  const topics = [...new Set(notifications.map(({ topic }) => topic))]
  const optional = topics.filter((topic) => !requiredTopics.has(topic))
  const link = `${publicUrl}/unsubscribe?token=${unsubscribeToken(secret, { accountId, topics: optional })}`
  return {
    to: email,
    subject: notifications.length === 1 ? items[0].title : digestSubject(notifications),
    text: [
      `Hello ${username},`,
      ...items.map(({ body }) => body),
      ...(others === 0 ? [] : [`And ${others} more: ${publicUrl}/notifications`]),
      ['--', `Your notification settings: ${publicUrl}/settings/notifications`]
        .concat(optional.length === 0 ? [] : [`Unsubscribe from emails like this one: ${link}`])
        .join('\n'),
    ].join('\n\n'),
    id: `notification-${notifications[0].id}`,
    headers:
      optional.length === 0
        ? {}
        : { 'List-Unsubscribe': `<${link}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

/** `12 notifications: training runs that end (9), sales of your packages (3)`. */
function digestSubject(notifications: readonly Pending[]): string {
  const counts = new Map<NotificationTopic, number>()
  for (const { topic } of notifications) counts.set(topic, (counts.get(topic) ?? 0) + 1)
  const parts = [...counts].map(([topic, count]) => `${notificationTopics[topic].toLowerCase()} (${count})`)
  return `${notifications.length} notifications: ${parts.join(', ')}`
}
