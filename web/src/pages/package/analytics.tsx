import type { PackageAnalytics } from '@agentgym/contract'
import { route } from '../../app/route.ts'
import { Button } from '../../components/controls.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Count } from '../../components/values.tsx'
import { PackageFrame } from './package-frame.tsx'
import { packagePath, readPackage } from './read-package.ts'

const periods = [30, 90, 365]

export const analyticsRoutes = [
  route('get', '/packages/:scope/:name/analytics', { access: 'owner' }, async (visit) => {
    const asked = Number(visit.query.get('days'))
    const days = periods.includes(asked) ? asked : periods[0]
    const [view, { data }] = await Promise.all([
      readPackage(visit),
      visit.api.GET('/v1/packages/{scope}/{name}/analytics', {
        params: { path: packagePath(visit), query: { days } },
      }),
    ])
    return visit.page(
      <PackageFrame view={view} tab={null}>
        <AnalyticsPage analytics={data} days={days} />
      </PackageFrame>,
      { title: `Analytics of ${view.page.name}`, hidden: true },
    )
  }),
]

type Counts = { views: number; trials: number; sales: number; refunds: number }
type Group = Counts & { key: string }

const countColumns: Column<Group>[] = [
  { title: 'Views', numeric: true, cell: ({ views }) => <Shown value={views} /> },
  { title: 'Trials', numeric: true, cell: ({ trials }) => <Shown value={trials} /> },
  { title: 'Sales', numeric: true, cell: ({ sales }) => <Shown value={sales} /> },
  { title: 'Refunds', numeric: true, cell: ({ refunds }) => <Shown value={refunds} /> },
]
const columns = (title: string): Column<Group>[] => [{ title, heading: true, cell: ({ key }) => key }, ...countColumns]

const sources: Record<PackageAnalytics['rows'][number]['source'], string> = {
  search: 'Search on this site',
  browse: 'Lists and other pages of this site',
  link: 'Links from elsewhere, or typed',
  command: 'Command and API',
  other: 'Not known',
}

/** Views, trials, sales and refunds of the last days. */
function AnalyticsPage({ analytics, days }: { analytics: PackageAnalytics; days: number }) {
  const { name, rows, from, to, retention_days: kept } = analytics
  const address = `${packageAddress(name)}/analytics`
  const total = addUp('total', rows)
  return (
    <section class="package-section analytics" aria-labelledby="analytics">
      <div class="section-head">
        <h2 id="analytics">Analytics</h2>
        <nav class="sorts" aria-label="Period">
          {periods.map((period) => (
            <a href={`${address}?days=${period}`} aria-current={period === days ? 'true' : undefined}>
              {period} days
            </a>
          ))}
        </nav>
      </div>
      {rows.length === 0 ? (
        <EmptyState title="No views yet">Views, trials, sales and refunds of this package appear here.</EmptyState>
      ) : (
        <>
          <Metrics>
            <Metric label="Views">{total.views.toLocaleString('en')}</Metric>
            <Metric label="Trials">{total.trials.toLocaleString('en')}</Metric>
            <Metric label="Sales">{total.sales.toLocaleString('en')}</Metric>
            <Metric label="Refunds">{total.refunds.toLocaleString('en')}</Metric>
          </Metrics>
          <LineChart
            title={`Views per day, ${from} to ${to}`}
            unit="days (UTC)"
            series={[{ name: 'Views', points: viewsByDay(analytics, days) }]}
          />
          <h3>By source</h3>
          <Table
            rows={groupBy(rows, ({ source }) => sources[source])}
            columns={columns('Source')}
            caption={`Sources of ${name}`}
          />
          <h3>By version</h3>
          <Table
            rows={groupBy(rows, ({ version }) => version)}
            columns={columns('Version')}
            caption={`Versions of ${name}`}
          />
          <details class="more">
            <summary>By day</summary>
            <Table
              rows={groupBy(rows, ({ day }) => day).toSorted((a, b) => (a.key < b.key ? 1 : -1))}
              columns={columns('Day (UTC)')}
              caption={`Days of ${name}`}
            />
          </details>
          <p>
            <Button href={`/v1/packages/${name}/analytics.csv?days=${days}`}>Download CSV</Button>
          </p>
        </>
      )}
      <p class="dim">
        A view counts once per visitor and day; bots and members of this account are left out. Visitors are not
        recorded: views are kept as daily totals for {kept} days. Trials are free calls of the hosted agent. A sale has
        the source of the buyer's last view that day.
      </p>
    </section>
  )
}

function Shown({ value }: { value: number }) {
  return value === 0 ? <span class="dim">–</span> : <Count value={value} />
}

function addUp(key: string, rows: readonly Counts[]): Group {
  const sum = (of: keyof Counts) => rows.reduce((total, row) => total + row[of], 0)
  return { key, views: sum('views'), trials: sum('trials'), sales: sum('sales'), refunds: sum('refunds') }
}

/** Most views first. */
function groupBy(rows: PackageAnalytics['rows'], keyOf: (row: PackageAnalytics['rows'][number]) => string): Group[] {
  return [...Map.groupBy(rows, keyOf)]
    .map(([key, group]) => addUp(key, group))
    .toSorted((a, b) => b.views - a.views || b.sales - a.sales || (a.key < b.key ? -1 : 1))
}

/** One point a day, also where nothing was viewed. */
function viewsByDay({ rows, from }: PackageAnalytics, days: number): { x: number; y: number }[] {
  const views = new Map(groupBy(rows, ({ day }) => day).map(({ key, views }) => [key, views]))
  const firstMs = Date.parse(from)
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(firstMs + index * 86_400_000).toISOString().slice(0, 10)
    return { x: index + 1, y: views.get(day) ?? 0 }
  })
}
