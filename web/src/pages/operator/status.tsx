import { formatAmount, type QueueHistory, type RentalList, type ServerStatus } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Html, Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, Tabs } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'

const operator = { access: 'operator' } as const

export const operatorRoutes = [
  route('get', '/operator', operator, (visit) => visit.redirect('/operator/queue')),

  route('get', '/operator/queue', operator, async (visit) => {
    const window = visit.query.get('window') === 'week' ? ('week' as const) : ('day' as const)
    const { data: history } = await visit.api.GET('/v1/queue-history', { params: { query: { window } } })
    const status = await readStatus(visit)
    const { data: renting } = await visit.api.GET('/v1/rentals', {})
    return visit.page(<QueuePage status={status} renting={renting} history={history} window={window} />, {
      title: 'Queue',
      hidden: true,
    })
  }),

  route('get', '/operator/workers', operator, async (visit) =>
    visit.page(<WorkersPage status={await readStatus(visit)} />, { title: 'Workers', hidden: true }),
  ),

  route('post', '/operator/worker-holds/:id/release', operator, async (visit) => {
    const { id } = visit.params
    const failure = await attempt(() => visit.api.POST('/v1/worker-holds/{id}/release', { params: { path: { id } } }))
    if (failure === null) return visit.redirect('/operator/workers')
    return visit.page(<WorkersPage status={await readStatus(visit)} failure={failure} />, {
      title: 'Workers',
      hidden: true,
    })
  }),
]

async function readStatus({ api }: Visit): Promise<ServerStatus> {
  const { data } = await api.GET('/v1/status')
  return data
}

const tabs = [
  { href: '/operator/queue', title: 'Queue' },
  { href: '/operator/workers', title: 'Workers' },
  { href: '/operator/accounts', title: 'Accounts' },
  { href: '/operator/moderation', title: 'Moderation' },
  { href: '/operator/audit', title: 'Audit log' },
]

/** Frame of the operator's pages. */
export function OperatorFrame({ children }: { children?: Html }) {
  const { path } = usePage()
  return (
    <div class="workspace">
      <h1>Operator</h1>
      <Tabs tabs={tabs} current={path} label="Operator" />
      <div class="settings-page">{children}</div>
    </div>
  )
}

const kinds: { kind: keyof ServerStatus['queue']; title: string; text: string }[] = [
  { kind: 'replay', title: 'Replays', text: 'of episodes that people keep' },
  { kind: 'check', title: 'Checks', text: 'of published versions' },
  { kind: 'evaluate', title: 'Evaluations', text: 'of agents, for verification' },
  { kind: 'train', title: 'Training', text: 'runs' },
]

type QueuePageProps = { status: ServerStatus; renting: RentalList; history: QueueHistory; window: 'day' | 'week' }

/** Queued and running jobs, now and before. */
function QueuePage({ status, renting, history, window }: QueuePageProps) {
  const there = status.workers.filter(({ state }) => state !== 'silent')
  const slots = there.reduce((sum, worker) => sum + worker.slots, 0)
  const used = there.reduce((sum, worker) => sum + worker.running, 0)
  const waiting = kinds.reduce((sum, { kind }) => sum + status.queue[kind].queued, 0)
  return (
    <OperatorFrame>
      {waiting > 0 && there.length === 0 && (
        <Notice kind="warning">
          {waiting} {waiting === 1 ? 'job is' : 'jobs are'} waiting and no worker is connected. Start one with{' '}
          <code>agentgym worker</code> and a token with the scope <code>worker</code>.
        </Notice>
      )}
      <Metrics>
        <Metric label="Queued">{waiting}</Metric>
        <Metric label="Slots in use" note={`of ${slots}`}>
          {used}
        </Metric>
        <Metric label="Workers" note={`${status.workers.length - there.length} offline`}>
          {there.length}
        </Metric>
        {renting.rentals.length > 0 && (
          <Metric
            label="Rented machines"
            note={`${formatAmount(renting.spent.cents_per_hour, 'USD')} an hour, at most ${formatAmount(renting.spent.cents_per_day, 'USD')} in 24 hours`}
          >
            {renting.rentals.length}
          </Metric>
        )}
      </Metrics>
      <Table
        caption="Jobs by kind"
        rows={kinds}
        columns={[
          {
            title: 'Jobs',
            heading: true,
            cell: ({ title, text }) => (
              <>
                {title} <span class="dim">{text}</span>
              </>
            ),
          },
          { title: 'Queued', numeric: true, cell: ({ kind }) => status.queue[kind].queued },
          { title: 'Running', numeric: true, cell: ({ kind }) => status.queue[kind].running },
        ]}
      />
      <QueueHistorySection history={history} window={window} />
    </OperatorFrame>
  )
}

const windows = [
  { window: 'day', title: 'Last day' },
  { window: 'week', title: 'Last week' },
] as const

/** Curves of the queue and the workers; sampled each minute. */
function QueueHistorySection({ history: { since, points }, window }: Pick<QueuePageProps, 'history' | 'window'>) {
  const hours = (at: string) => (Date.parse(at) - Date.parse(since)) / 3_600_000
  const unit = `Hours since ${since.slice(0, 16).replace('T', ' ')} UTC`
  const byKind = (read: (sample: QueueHistory['points'][number]['kinds']['train']) => number) =>
    kinds.map(({ kind, title }) => ({
      name: title,
      points: points.map(({ at, kinds }) => ({ x: hours(at), y: read(kinds[kind]) })),
    }))
  const connected = points.map(({ at, workers_connected }) => ({ x: hours(at), y: workers_connected }))
  return (
    <section aria-labelledby="history">
      <div class="workspace-head">
        <h2 id="history">History</h2>
        <nav class="settings-row" aria-label="Period">
          {windows.map((one) => (
            <a href={`/operator/queue?window=${one.window}`} aria-current={one.window === window ? 'page' : undefined}>
              {one.title}
            </a>
          ))}
        </nav>
      </div>
      <p class="report-facts">{unit}. Sampled each minute.</p>
      <LineChart title="Queued jobs" unit={unit} series={byKind(({ waiting }) => waiting)} />
      <LineChart
        title="Longest wait (minutes)"
        unit={unit}
        series={byKind(({ oldest_seconds }) => oldest_seconds / 60)}
      />
      <LineChart
        title="Workers"
        unit={unit}
        series={[{ name: 'Connected', points: connected }, ...byKind(({ workers }) => workers)]}
      />
    </section>
  )
}

type Worker = ServerStatus['workers'][number]
const tones = { idle: 'good', busy: 'warning', silent: 'bad' } as const

/** Workers and their load. */
function WorkersPage({ status, failure = null }: { status: ServerStatus; failure?: FormFailure | null }) {
  return (
    <OperatorFrame>
      {(status.held_back ?? []).map((hold) => (
        <Notice kind="failure">
          <strong>{hold.worker ?? 'A worker'}</strong> gets no evaluations since <Time at={hold.created_at} />.{' '}
          {hold.reason}
          <Form action={`/operator/worker-holds/${hold.id}/release`} failure={failure}>
            <Button>Release</Button>
          </Form>
        </Notice>
      ))}
      {status.workers.length === 0 ? (
        <EmptyState title="No workers yet" command="agentgym worker">
          <p>Run a worker on any machine, with a token with the scope worker in AGENTGYM_TOKEN.</p>
        </EmptyState>
      ) : (
        <Table
          caption="Workers"
          rows={status.workers}
          columns={[
            { title: 'Worker', heading: true, cell: ({ name }) => <span class="mono">{name}</span> },
            {
              title: 'State',
              cell: ({ state }) => <Badge tone={tones[state]}>{state === 'silent' ? 'offline' : state}</Badge>,
            },
            { title: 'Jobs', numeric: true, cell: ({ running, slots }) => `${running} / ${slots}` },
            { title: 'Machine', cell: machineOf, wide: true },
            { title: 'Sandbox', cell: sandboxOf, wide: true },
            { title: 'CPU', numeric: true, cell: ({ usage }) => percent(usage.cpu) },
            { title: 'Memory', numeric: true, cell: ({ usage }) => percent(usage.memory), wide: true },
            { title: 'GPU', numeric: true, cell: ({ usage }) => percent(usage.gpu), wide: true },
            {
              title: 'Per hour',
              numeric: true,
              cell: ({ price_minor_per_hour }) => formatAmount(price_minor_per_hour, status.currency),
              wide: true,
            },
            { title: 'Last seen', cell: ({ seen_at }) => <Time at={seen_at} /> },
          ]}
        />
      )}
    </OperatorFrame>
  )
}

function machineOf({ cores, memory_bytes, gpus }: Worker): string {
  const memory = `${Math.round(memory_bytes / 2 ** 30)} GiB`
  return [`${cores} cores`, memory, ...gpus.map(({ name }) => name)].join(', ')
}

function sandboxOf({ missing_walls: missing }: Worker) {
  if (missing === null) return '–'
  if (missing.length === 0) return 'complete'
  return <Badge tone="bad">without {missing.join(', ')}</Badge>
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)}%`
}
