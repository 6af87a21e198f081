import { formatAmount, type Run } from '@agentgym/contract'
import { formatSteps } from '@agentgym/contract/charts'
import { route } from '../../app/route.ts'
import { RunState } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { accountsOf } from '../../session/accounts.ts'
import { runName } from './read-run.ts'

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
        <span class="run-actions">
          <Button
            href={`/runs/sweep${filter.scenario === undefined ? '' : `?scenario=${encodeURIComponent(filter.scenario)}`}`}
          >
            Sweep
          </Button>
          <Button look="primary" href="/runs/new">
            New run
          </Button>
        </span>
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
    cell: (run) => (
      <input
        class="run-tick"
        type="checkbox"
        name="ids"
        value={run.id}
        aria-label={`Compare ${runName(run)} ${run.id.slice(0, 8)}`}
      />
    ),
  }
  return <Table caption="Runs, newest first" rows={runs} columns={tickable ? [tick, ...columns] : columns} />
}

const columns: Column<Run>[] = [
  {
    title: 'Run',
    heading: true,
    cell: (run) => (
      <span class="run-name">
        <a href={`/runs/${run.id}`}>{runName(run)}</a>
        <span class="run-name-id">
          {run.scenario.name}@{run.scenario.version} · {run.id.slice(0, 8)}
        </span>
      </span>
    ),
  },
  { title: 'State', cell: ({ state }) => <RunState state={state} />, wide: true },
  { title: 'Algorithm', cell: ({ algorithm }) => algorithm.toUpperCase(), wide: true },
  { title: 'Result', cell: (run) => <RunResult run={run} /> },
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

/** Outcome of its evaluation; before, the mean return of the last episodes, on phones with the state. */
function RunResult({ run: { evaluation, progress, state } }: { run: Run }) {
  if (evaluation !== null)
    return <Outcome success={evaluation.success} returnMean={evaluation.return_mean} form="short" />
  return (
    <span class="run-list-result">
      <span class="narrow-only">
        <RunState state={state} />
      </span>
      <Outcome success={undefined} returnMean={progress?.return_mean ?? null} form="short" />
    </span>
  )
}
