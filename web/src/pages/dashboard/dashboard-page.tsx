import { formatAmount, type ListedPackage, type Run } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { PackageList } from '../../components/package-list.tsx'
import { usePage } from '../../layout/page-context.ts'
import { RunTable } from '../runs/run-table.tsx'

export type DashboardPageProps = {
  runs: Run[]
  underWay: { queued: number; running: number }
  packages: ListedPackage[]
  balanceMinor: number
  earnedMinor: number
}

/** Where one goes on: runs, packages, money, and the way to everything that is one's own. */
export function DashboardPage({ runs, underWay, packages, balanceMinor, earnedMinor }: DashboardPageProps) {
  const { account, host } = usePage()
  return (
    <div class="desk">
      <div class="desk-head">
        <h1>Dashboard</h1>
        <div class="settings-row">
          <Button href="/publish">Publish</Button>
          <Button look="primary" href="/runs/new">
            Start a run
          </Button>
        </div>
      </div>
      <Figures>
        <Figure label="Runs under way" note={`${underWay.queued} more in the queue`}>
          {underWay.running}
        </Figure>
        <Figure label="Packages">{packages.length}</Figure>
        <Figure label="Balance" note="to spend">
          {formatAmount(balanceMinor, host.currency)}
        </Figure>
        <Figure label="Earnings" note="not paid out yet">
          {formatAmount(earnedMinor, host.currency)}
        </Figure>
      </Figures>
      <div class="desk-columns">
        <div>
          <section class="desk-section" aria-labelledby="runs">
            <div class="section-head">
              <h2 id="runs">Runs</h2>
              <a href="/runs">All runs</a>
            </div>
            <Runs runs={runs} />
          </section>
          <section class="desk-section" aria-labelledby="packages">
            <div class="section-head">
              <h2 id="packages">Packages</h2>
              <a href={`/@${account?.username}`}>Profile</a>
            </div>
            <Packages packages={packages} />
          </section>
        </div>
        <Places />
      </div>
    </div>
  )
}

function Runs({ runs }: { runs: Run[] }) {
  if (runs.length > 0) return <RunTable runs={runs} />
  return (
    <EmptyState title="Your runs stand here" command="agentgym train @scope/scenario --remote">
      <p>A run trains on this server’s machines, and can be watched from here.</p>
    </EmptyState>
  )
}

function Packages({ packages }: { packages: ListedPackage[] }) {
  if (packages.length > 0) return <PackageList packages={packages} label="Your packages" />
  return (
    <EmptyState title="What you publish stands here" command="agentgym scenario publish">
      <p>
        <a href="/publish">How to publish a scenario or an agent</a>
      </p>
    </EmptyState>
  )
}

function Places() {
  const { account } = usePage()
  const places = [
    { href: '/orders', title: 'Orders', text: 'What you bought, receipts, refunds' },
    { href: '/licences', title: 'Licences', text: 'What you may use' },
    { href: '/balance', title: 'Balance', text: 'Top up, payments' },
    { href: '/earnings', title: 'Earnings', text: 'Sales, royalties, payouts' },
    { href: '/settings/tokens', title: 'Tokens', text: 'For programs and workers' },
    { href: '/settings/organisations', title: 'Organisations', text: 'Members and roles' },
    { href: '/settings/account', title: 'Settings', text: 'Address, password, sessions' },
    ...(account?.operator ? [{ href: '/operator', title: 'Operator', text: 'Queue, workers, moderation, audit' }] : []),
  ]
  return (
    <nav aria-label="Your account">
      <div class="desk-places">
        {places.map(({ href, title, text }) => (
          <a href={href}>
            <span>{title}</span>
            <span>{text}</span>
          </a>
        ))}
      </div>
    </nav>
  )
}
