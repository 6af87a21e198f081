import { formatAmount, type ListedPackage, type Publisher, type Run } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { Button } from '../components/controls.tsx'
import { EmptyState } from '../components/messages.tsx'
import { Figure, Figures } from '../components/metrics.tsx'
import { PackageList } from '../components/package-list.tsx'
import { Time } from '../components/values.tsx'
import { usePage } from '../layout/page-context.ts'
import { RunTable } from './runs/runs.tsx'

export const dashboardRoutes = [
  route('get', '/dashboard', { access: 'account' }, async (visit) => {
    const { api, account } = visit
    const [runs, status, publisher, balance, earnings] = await Promise.all([
      api.GET('/v1/runs', { params: { query: { limit: 5 } } }),
      api.GET('/v1/status'),
      readPublisher(visit, account?.username ?? ''),
      api.GET('/v1/balance'),
      api.GET('/v1/earnings'),
    ])
    return visit.page(
      <DashboardPage
        runs={runs.data.runs}
        underWay={status.data.runs}
        packages={publisher.packages}
        balanceMinor={balance.data.available_minor}
        earnedMinor={earnings.data.balance_minor}
      />,
      { title: 'Dashboard', hidden: true },
    )
  }),

  /** `/@acme`. */
  route('get', '/:scope{@[^/]+}', { access: 'public' }, async (visit) => {
    const username = visit.params.scope.slice(1)
    const publisher = await readPublisher(visit, username)
    // One account has one address.
    if (publisher.username !== username) return visit.redirect(`/@${publisher.username}`)
    return visit.page(<PublisherPage publisher={publisher} />, {
      title: publisher.display_name ?? publisher.username,
      description: `Scenarios and agents of ${publisher.display_name ?? publisher.username}.`,
    })
  }),
]

async function readPublisher({ api }: Visit, username: string): Promise<Publisher> {
  const { data } = await api.GET('/v1/accounts/{username}', { params: { path: { username } } })
  return data
}

type DashboardPageProps = {
  runs: Run[]
  underWay: { queued: number; running: number }
  packages: ListedPackage[]
  balanceMinor: number
  earnedMinor: number
}

/** Where one goes on: runs, packages, money, and the way to everything that is one's own. */
function DashboardPage({ runs, underWay, packages, balanceMinor, earnedMinor }: DashboardPageProps) {
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

/** A user or an organisation, and what they publish. */
function PublisherPage({ publisher }: { publisher: Publisher }) {
  const { account } = usePage()
  const { username, display_name, kind, packages } = publisher
  const own = account?.username === username
  return (
    <div class="desk">
      <div class="publisher-head">
        <h1>{display_name ?? username}</h1>
        <p class="report-facts">
          <span class="mono">@{username}</span>
          <span>{kind}</span>
          <span>
            here since <Time at={publisher.created_at} />
          </span>
        </p>
      </div>
      <section class="desk-section" aria-labelledby="packages">
        <h2 id="packages">Packages</h2>
        {packages.length > 0 ? (
          <PackageList packages={packages} label={`Packages of ${username}`} />
        ) : (
          <EmptyState
            title={`${display_name ?? username} has published nothing yet`}
            command={own ? 'agentgym scenario publish' : undefined}
          >
            <p>
              {own ? <a href="/publish">How to publish</a> : <a href="/packages">Browse what others have published</a>}
            </p>
          </EmptyState>
        )}
      </section>
    </div>
  )
}
