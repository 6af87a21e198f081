import type { Html } from '../../app/visit.ts'
import { Tabs } from '../../components/tabs.tsx'
import { usePage } from '../../layout/page-context.ts'

const tabs = [
  { href: '/operator/queue', title: 'Queue' },
  { href: '/operator/workers', title: 'Workers' },
  { href: '/operator/moderation', title: 'Moderation' },
  { href: '/operator/audit', title: 'Audit log' },
]

/** What stands around every page of those who run this installation. */
export function OperatorFrame({ children }: { children?: Html }) {
  const { path } = usePage()
  return (
    <div class="desk">
      <h1>Operator</h1>
      <Tabs tabs={tabs} current={path} label="Operator" />
      <div class="settings-page">{children}</div>
    </div>
  )
}
