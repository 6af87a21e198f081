import { formatAmount, type ProgressEvent, type Run } from '@agentgym/contract'
import { formatSteps, formatValue } from '@agentgym/contract/charts'
import { route } from '../../app/route.ts'
import { RunState } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { formatDuration } from '../../format.ts'
import { useIsland } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { findRun, isRunId, readPoints, seriesOf } from './read-run.ts'

/** Maximum number of compared runs; more lines cannot be distinguished. */
const mostCompared = 5
const account = { access: 'account' } as const

export const runListRoutes = [
  route('get', '/runs', account, async (visit) => {
    const filter = filterIn(visit.query)
    const cursor = visit.query.get('cursor') ?? undefined
    const { data } = await visit.api.GET('/v1/runs', { params: { query: { ...filter, cursor, limit: 20 } } })
    const runs = data.runs
    return visit.page(
      <RunsPage
        runs={runs}
        filter={filter}
        accounts={visit.account === null ? [] : accountsOf(visit.account, 'viewer')}
        next={data.next_cursor}
      />,
      { title: 'Runs', hidden: true },
    )
  }),

  route('get', '/runs/compare', account, async (visit) => {
    const ids = [...new Set(visit.query.getAll('ids').flatMap((text) => text.split(',')))].filter(isRunId)
    const compared = await Promise.all(
      ids
        .slice(0, mostCompared)
        .map(async (id) => ({ run: await findRun(visit, id), points: await readPoints(visit, id) })),
    )
    const { data } = await visit.api.GET('/v1/runs', { params: { query: { limit: 50 } } })
    const others = data.runs.filter(({ id }) => !ids.includes(id))
    return visit.page(<ComparePage compared={compared} others={compared.length < mostCompared ? others : []} />, {
      title: 'Compare runs',
      hidden: true,
    })
  }),
]

function filterIn(query: URLSearchParams): RunFilter {
  const states: Run['state'][] = ['queued', 'running', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'paused']
  const filled = (name: string) => query.get(name)?.trim() || undefined
  return {
    state: states.find((state) => state === query.get('state')),
    scenario: filled('scenario'),
    account: filled('account'),
  }
}

export type RunFilter = { state?: Run['state']; scenario?: string; account?: string }

type RunsPageProps = {
  runs: Run[]
  filter: RunFilter
  /** Accounts for the filter. */
  accounts: string[]
  next: string | null
}

const states: { value: Run['state'] | ''; label: string }[] = [
  { value: '', label: 'All states' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Canceled' },
  { value: 'budget_exceeded', label: 'Out of budget' },
  { value: 'paused', label: 'Paused' },
]

/** Runs of the visitor's accounts, newest first, with a form to compare them. */
function RunsPage({ runs, filter, accounts, next }: RunsPageProps) {
  const filtered = Object.values(filter).some((value) => value !== undefined)
  return (
    <div class="workspace">
      <div class="workspace-head">
        <h1>Runs</h1>
        <Button look="primary" href="/runs/new">
          New run
        </Button>
      </div>
      <Filters filter={filter} accounts={accounts} />
      {runs.length === 0 ? (
        filtered ? (
          <EmptyState title="No matching runs">
            <a href="/runs">Clear filters</a>
          </EmptyState>
        ) : (
          <EmptyState title="No training runs yet" command="agentgym train @scope/scenario --remote">
            <p>Training runs on this server appear here, with live curve, cost, checkpoints and agent.</p>
          </EmptyState>
        )
      ) : (
        <form method="get" action="/runs/compare" class="run-list">
          <RunTable runs={runs} tickable />
          <div class="run-list-foot">
            {runs.length > 1 && <Button>Compare selected</Button>}
            {next !== null && <a href={olderAddress(filter, next)}>Older runs</a>}
          </div>
        </form>
      )}
    </div>
  )
}

/** Empty filters are left out of the address. */
function olderAddress(filter: RunFilter, cursor: string): string {
  const request = Object.entries(filter).filter(([, value]) => value !== undefined)
  return `/runs?${new URLSearchParams([...request, ['cursor', cursor]])}`
}

function Filters({ filter, accounts }: Pick<RunsPageProps, 'filter' | 'accounts'>) {
  return (
    <form method="get" action="/runs" class="workspace-filter" aria-label="Filter runs">
      <label>
        <span class="visually-hidden">State</span>
        <select name="state">
          {states.map(({ value, label }) => (
            <option value={value} selected={value === (filter.state ?? '')}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {accounts.length > 1 && (
        <label>
          <span class="visually-hidden">Account</span>
          <select name="account">
            <option value="">All accounts</option>
            {accounts.map((account) => (
              <option value={account} selected={account === filter.account}>
                {account}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="workspace-filter-text">
        <span class="visually-hidden">Scenario</span>
        <input type="text" name="scenario" value={filter.scenario} placeholder="@scope/scenario" spellcheck={false} />
      </label>
      <Button>Filter</Button>
    </form>
  )
}

/** A table of runs; `tickable` inside a form that submits their `ids`. */
export function RunTable({ runs, tickable = false }: { runs: Run[]; tickable?: boolean }) {
  const tick: Column<Run> = {
    title: 'Select',
    cell: ({ id, note, scenario }) => (
      <input class="run-tick" type="checkbox" name="ids" value={id} aria-label={`Compare ${note ?? scenario.name}`} />
    ),
  }
  return <Table caption="Runs, newest first" rows={runs} columns={tickable ? [tick, ...columns] : columns} />
}

const columns: Column<Run>[] = [
  {
    title: 'Run',
    heading: true,
    cell: ({ id, note, scenario }) => (
      <span class="run-name">
        <a href={`/runs/${id}`}>{note ?? scenario.name}</a>
        <span class="run-name-id">
          {note !== null && `${scenario.name}@${scenario.version} · `}
          {id.slice(0, 8)}
        </span>
      </span>
    ),
  },
  { title: 'State', cell: ({ state }) => <RunState state={state} /> },
  { title: 'Algorithm', cell: ({ algorithm }) => algorithm.toUpperCase(), wide: true },
  { title: 'Return', numeric: true, cell: (run) => returnOf(run) },
  {
    title: 'Steps',
    numeric: true,
    cell: ({ progress }) =>
      progress === null ? '–' : `${formatSteps(progress.steps)} / ${formatSteps(progress.steps_total)}`,
    wide: true,
  },
  { title: 'Cost', numeric: true, cell: ({ cost }) => formatAmount(cost.spent_minor, cost.currency), wide: true },
  { title: 'Started', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
]

/** Mean return of its evaluation, or of the last episodes during training. */
function returnOf({ evaluation, progress }: Run): string {
  const value = evaluation?.return_mean ?? progress?.return_mean ?? null
  return value === null ? '–' : formatValue(value)
}

type ComparedRun = { run: Run; points: ProgressEvent[] }

/** Curves of several runs on one axis, and a table of their differences. */
function ComparePage({ compared, others }: { compared: ComparedRun[]; others: Run[] }) {
  const names = compared.map(({ run }) => runName(run))
  const goOn = compared.some(({ run }) => run.state === 'queued' || run.state === 'running')
  if (goOn) useIsland('compare-live')
  return (
    <div class="workspace" data-compare-live={goOn ? 'yes' : undefined}>
      <div class="workspace-head">
        <h1>Compare runs</h1>
        <Button href="/runs">View all runs</Button>
      </div>
      {compared.length === 0 ? (
        <EmptyState title="No runs selected">
          <p>Select runs in your list, or add one below.</p>
        </EmptyState>
      ) : (
        <>
          <div data-part="curves">
            <LineChart
              title="Mean return"
              unit="environment steps"
              size="large"
              level={2}
              series={compared.map(({ points }, index) => ({
                name: names[index],
                points: seriesOf(points, ({ return_mean }) => return_mean),
              }))}
            />
          </div>
          <div data-part="metrics">
            <Table caption="Runs side by side" rows={rowsOf(compared)} columns={columnsOf(compared)} />
          </div>
        </>
      )}
      {others.length > 0 && <AddRuns compared={compared} others={others} />}
    </div>
  )
}

function runName({ note, scenario, id }: Run): string {
  return note ?? `${scenario.name.split('/')[1]} ${id.slice(0, 8)}`
}

type Row = { name: string; cells: (string | ReturnType<typeof RunState>)[]; differs: boolean }

function columnsOf(compared: ComparedRun[]): Column<Row>[] {
  return [
    {
      title: 'Metric',
      heading: true,
      cell: ({ name, differs }) => <span class={differs ? 'differs' : 'dim'}>{name}</span>,
    },
    ...compared.map(
      ({ run }, index): Column<Row> => ({
        title: runName(run),
        cell: ({ cells }) => cells[index],
      }),
    ),
  ]
}

function rowsOf(compared: ComparedRun[]): Row[] {
  const runs = compared.map(({ run }) => run)
  const row = (name: string, cell: (run: Run) => string): Row => {
    const cells = runs.map(cell)
    return { name, cells, differs: new Set(cells).size > 1 }
  }
  const settings = [...new Set(runs.flatMap(({ settings }) => Object.keys(settings)))]
  return [
    { name: 'State', cells: runs.map(({ state }) => <RunState state={state} />), differs: false },
    row('Scenario', ({ scenario }) => `${scenario.name}@${scenario.version}`),
    row('Algorithm', ({ algorithm }) => algorithm.toUpperCase()),
    row('Seed', ({ seed }) => String(seed)),
    row('Evaluated return', ({ evaluation }) => formatOptional(evaluation?.return_mean)),
    row('Mean return', ({ progress }) => formatOptional(progress?.return_mean)),
    row('Steps', ({ progress }) => (progress?.steps ?? 0).toLocaleString('en')),
    row('Throughput (steps/s)', ({ progress }) => formatOptional(progress?.steps_per_second)),
    row('Time', ({ progress }) => (progress === null ? '–' : formatDuration(progress.seconds))),
    row('Cost', ({ cost }) => formatAmount(cost.spent_minor, cost.currency)),
    // Only settings that differ.
    ...settings
      .map((name) => row(name, (run) => JSON.stringify(run.settings[name]) ?? '–'))
      .filter(({ differs }) => differs),
  ]
}

function formatOptional(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : formatValue(value)
}

function AddRuns({ compared, others }: { compared: ComparedRun[]; others: Run[] }) {
  return (
    <form class="workspace-filter" method="get" action="/runs/compare" aria-label="Add a run">
      {compared.map(({ run }) => (
        <input type="hidden" name="ids" value={run.id} />
      ))}
      <label>
        <span class="visually-hidden">Run</span>
        <select name="ids">
          {others.map((run) => (
            <option value={run.id}>{`${runName(run)} · ${run.algorithm.toUpperCase()} · ${run.state}`}</option>
          ))}
        </select>
      </label>
      <Button>Add</Button>
    </form>
  )
}
