import { formatAmount, type ListedPackage, type Publisher, type Run } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { Button } from '../components/controls.tsx'
import { EmptyState } from '../components/messages.tsx'
import { Metric, Metrics } from '../components/metrics.tsx'
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
    // Each account has one URL.
    if (publisher.username !== username) return visit.redirect(`/@${publisher.username}`)
    return visit.page(<PublisherPage publisher={publisher} />, {
      title: publisher.display_name ?? publisher.username,
      description: `Scenarios and agents by ${publisher.display_name ?? publisher.username}.`,
      feed: `/@${publisher.username}/feed.atom`,
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

/** Runs, packages and money at a glance, with links to everything else of the account. */
function DashboardPage({ runs, underWay, packages, balanceMinor, earnedMinor }: DashboardPageProps) {
  const { account, host } = usePage()
  return (
    <div class="workspace">
      <div class="workspace-head">
        <h1>Dashboard</h1>
        <div class="settings-row">
          <Button href="/publish">Publish</Button>
          <Button look="primary" href="/runs/new">
            New run
          </Button>
        </div>
      </div>
      <Metrics>
        <Metric label="Active runs" note={`${underWay.queued} queued`}>
          {underWay.running}
        </Metric>
        <Metric label="Packages">{packages.length}</Metric>
        <Metric label="Balance" note="available">
          {formatAmount(balanceMinor, host.currency)}
        </Metric>
        <Metric label="Earnings" note="not paid out">
          {formatAmount(earnedMinor, host.currency)}
        </Metric>
      </Metrics>
      <div class="workspace-columns">
        <div>
          <section class="workspace-section" aria-labelledby="runs">
            <div class="section-head">
              <h2 id="runs">Runs</h2>
              <a href="/runs">View all</a>
            </div>
            <Runs runs={runs} />
          </section>
          <section class="workspace-section" aria-labelledby="packages">
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
    <EmptyState title="No training runs yet" command="agentgym train @scope/scenario --remote">
      <p>Runs on this server's machines appear here, with live curves and cost.</p>
    </EmptyState>
  )
}

function Packages({ packages }: { packages: ListedPackage[] }) {
  if (packages.length > 0) return <PackageList packages={packages} label="Your packages" />
  return (
    <EmptyState title="Nothing published yet" command="agentgym scenario publish">
      <p>
        <a href="/publish">How to publish</a>
      </p>
    </EmptyState>
  )
}

function Places() {
  const { account } = usePage()
  const places = [
    { href: '/orders', title: 'Orders', text: 'Purchases, receipts, refunds' },
    { href: '/licences', title: 'Licenses', text: 'Packages you bought' },
    { href: '/balance', title: 'Balance', text: 'Top-ups, payments' },
    { href: '/earnings', title: 'Earnings', text: 'Sales, royalties, payouts' },
    { href: '/settings/tokens', title: 'Tokens', text: 'Access for scripts, CI and workers' },
    { href: '/settings/organisations', title: 'Organizations', text: 'Members and roles' },
    { href: '/settings/account', title: 'Settings', text: 'Email, password, sessions' },
    ...(account?.operator ? [{ href: '/operator', title: 'Operator', text: 'Queue, workers, moderation, audit' }] : []),
  ]
  return (
    <nav aria-label="Your account">
      <div class="workspace-places">
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

/** A user or an organization, and what they publish. */
function countText(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? what : `${what}s`}`
}

function PublisherPage({ publisher }: { publisher: Publisher }) {
  const { account } = usePage()
  const { username, display_name, kind, packages, counts } = publisher
  const own = account?.username === username
  return (
    <div class="workspace">
      <div class="publisher-head">
        <h1>{display_name ?? username}</h1>
        <p class="report-facts">
          <span class="mono">@{username}</span>
          <span>{kind === 'organisation' ? 'organization' : kind}</span>
          <span>
            {countText(counts.scenarios, 'scenario')}, {countText(counts.agents, 'agent')}
          </span>
          <span>{countText(counts.downloads, 'download')}</span>
          <span>
            Joined <Time at={publisher.created_at} />
          </span>
          <a href={`/@${username}/feed.atom`}>Atom feed</a>
        </p>
      </div>
      <section class="workspace-section" aria-labelledby="packages">
        <h2 id="packages">Packages</h2>
        {packages.length > 0 ? (
          <PackageList packages={packages} label={`Packages of ${username}`} />
        ) : (
          <EmptyState
            title={`${display_name ?? username} hasn't published anything yet`}
            command={own ? 'agentgym scenario publish' : undefined}
          >
            <p>{own ? <a href="/publish">How to publish</a> : <a href="/packages">Browse packages</a>}</p>
          </EmptyState>
        )}
      </section>
    </div>
  )
}
