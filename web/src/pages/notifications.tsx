import type { Notification } from '@agentgym/contract'
import { route } from '../app/route.ts'
import { Button } from '../components/controls.tsx'
import { Form } from '../components/form.tsx'
import { EmptyState } from '../components/messages.tsx'
import { Time } from '../components/values.tsx'
import { usePage } from '../layout/page-context.ts'

const account = { access: 'account' } as const

export const notificationRoutes = [
  route('get', '/notifications', account, async (visit) => {
    const unread = visit.query.get('show') !== 'all'
    const query = { unread: unread ? ('true' as const) : ('false' as const), limit: 50 }
    const cursor = visit.query.get('cursor') ?? undefined
    const { data } = await visit.api.GET('/v1/notifications', { params: { query: { ...query, cursor } } })
    return visit.page(
      <NotificationsPage notifications={data.notifications} next={data.next_cursor} onlyUnread={unread} />,
      { title: 'Notifications', hidden: true },
    )
  }),

  route('post', '/notifications/read', account, async ({ api, form, redirect }) => {
    const ids = form.all('id')
    await api.POST('/v1/notifications/read', { body: ids.length === 0 ? {} : { ids } })
    return redirect(form.get('show') === 'all' ? '/notifications?show=all' : '/notifications')
  }),
]

type NotificationsPageProps = { notifications: Notification[]; next: string | null; onlyUnread: boolean }

/** What happened to the account and its packages, newest first. */
function NotificationsPage({ notifications, next, onlyUnread }: NotificationsPageProps) {
  const { account } = usePage()
  const show = onlyUnread ? 'unread' : 'all'
  return (
    <div class="workspace workspace-narrow">
      <div class="workspace-head">
        <h1>Notifications</h1>
        <a href="/settings/notifications">Settings</a>
      </div>
      <div class="workspace-head">
        <nav class="settings-row" aria-label="Shown notifications">
          <a href="/notifications" aria-current={onlyUnread ? 'page' : undefined}>
            Unread
          </a>
          <a href="/notifications?show=all" aria-current={onlyUnread ? undefined : 'page'}>
            All
          </a>
        </nav>
        {(account?.unread_notifications ?? 0) > 0 && (
          <Form action="/notifications/read" look="inline">
            <input type="hidden" name="show" value={show} />
            <Button size="small">Mark all as read</Button>
          </Form>
        )}
      </div>
      {notifications.length === 0 ? (
        <EmptyState title={onlyUnread ? 'No unread notifications' : 'No notifications yet'}>
          <p>Runs that end, verifications, sales, reviews and price changes appear here.</p>
        </EmptyState>
      ) : (
        <ul class="notifications">
          {notifications.map((notification) => (
            <NotificationItem notification={notification} show={show} />
          ))}
        </ul>
      )}
      {next !== null && <a href={`/notifications?${new URLSearchParams({ show, cursor: next })}`}>Older</a>}
    </div>
  )
}

function NotificationItem({ notification, show }: { notification: Notification; show: string }) {
  const { id, title, text, path, read, created_at } = notification
  return (
    <li class={read ? 'notification' : 'notification notification-unread'}>
      <div class="notification-body">
        <a href={path}>{title}</a>
        {!read && <span class="visually-hidden"> (unread)</span>}
        {text !== '' && <p class="report-text">{text}</p>}
        <p class="report-facts">
          <Time at={created_at} />
        </p>
      </div>
      {!read && (
        <Form action="/notifications/read" look="inline" label={title}>
          <input type="hidden" name="show" value={show} />
          <Button size="small" name="id" value={id}>
            Mark as read
          </Button>
        </Form>
      )}
    </li>
  )
}
