import { type NotificationSettings, notificationTopicSchema } from '@agentgym/contract'
import { route } from '../../app/route.ts'
import { Button } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const

export const notificationSettingRoutes = [
  route('get', '/settings/notifications', account, async (visit) => {
    const { data } = await visit.api.GET('/v1/notification-settings')
    return visit.page(<NotificationSettingsPage settings={data.settings} done={visit.query.get('done') !== null} />, {
      title: 'Notification settings',
      hidden: true,
    })
  }),

  route('post', '/settings/notifications', account, async ({ api, form, redirect }) => {
    const { data } = await api.GET('/v1/notification-settings')
    const chosen = { site: form.all('site'), email: form.all('email') }
    for (const { topic, required } of data.settings) {
      if (required) continue
      const body = { site: chosen.site.includes(topic), email: chosen.email.includes(topic) }
      await api.PUT('/v1/notification-settings/{topic}', {
        params: { path: { topic: notificationTopicSchema.parse(topic) } },
        body,
      })
    }
    return redirect('/settings/notifications?done=yes')
  }),
]

type SettingsProps = { settings: NotificationSettings['settings']; done: boolean }
type Setting = SettingsProps['settings'][number]

/** The channels of each topic. */
function NotificationSettingsPage({ settings, done }: SettingsProps) {
  const { account } = usePage()
  const box = (channel: 'site' | 'email', name: string) => (setting: Setting) => (
    <input
      type="checkbox"
      name={channel}
      value={setting.topic}
      checked={setting[channel]}
      disabled={setting.required}
      aria-label={`${setting.title}: ${name}`}
    />
  )
  return (
    <SettingsFrame>
      {done && <Notice kind="success">Settings saved.</Notice>}
      <section aria-labelledby="topics">
        <h2 id="topics">Notifications</h2>
        <p class="report-facts">
          Emails are collected: at most one every 15 minutes. Decisions of the operators are always sent.
        </p>
        {account?.email != null && !account.email_verified && (
          <Notice kind="warning">
            <a href="/settings/account">Confirm your email address</a> to get notifications by email.
          </Notice>
        )}
        <Form action="/settings/notifications">
          <Table
            caption="Channels of each topic"
            rows={settings}
            columns={[
              { title: 'Topic', heading: true, cell: ({ title }) => title },
              { title: 'On the site', cell: box('site', 'on the site') },
              { title: 'By email', cell: box('email', 'by email') },
            ]}
          />
          <Button look="primary">Save settings</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}
