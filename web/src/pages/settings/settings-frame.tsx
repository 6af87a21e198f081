import type { Html } from '../../app/visit.ts'
import { Tabs } from '../../components/controls.tsx'
import { usePage } from '../../layout/page-context.ts'

const tabs = [
  { href: '/settings/account', title: 'Account' },
  { href: '/settings/security', title: 'Security' },
  { href: '/settings/sessions', title: 'Sessions' },
  { href: '/settings/notifications', title: 'Notifications' },
  { href: '/settings/tokens', title: 'Tokens' },
  { href: '/settings/webhooks', title: 'Webhooks' },
  { href: '/settings/organisations', title: 'Organizations' },
  { href: '/settings/spending', title: 'Spending limits' },
]

/** Frame of every settings page. */
export function SettingsFrame({ children }: { children?: Html }) {
  const { path } = usePage()
  const current = tabs.find(({ href }) => path === href || path.startsWith(`${href}/`))
  return (
    <div class="workspace">
      <h1>Settings</h1>
      <Tabs tabs={tabs} current={current?.href ?? ''} label="Settings" />
      <div class="settings-page">{children}</div>
    </div>
  )
}
