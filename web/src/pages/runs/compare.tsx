import { formatAmount, type ProgressEvent, type Run, type SuccessCriteria } from '@agentgym/contract'
import { bandOf } from '@agentgym/contract/charts'
import { formatMetric } from '@agentgym/contract/metrics'
import type { Child } from 'hono/jsx'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { RunState } from '../../components/badge.tsx'
import { Button, Command } from '../../components/controls.tsx'
import { type ChartSeries, LineChart } from '../../components/line-chart.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { formatDuration } from '../../format.ts'
import { useIsland } from '../../layout/page-context.ts'
import { pathOf, type RunMetric, runMetrics, seriesOf } from '../../run-metrics.ts'
import { findRun, isRunId, readPoints, runName, sameButSeed, successTargets } from './read-run.ts'

/** More lines over one pair of axes cannot be distinguished. */
const mostLines = 5
/** Runs of several seeds are one line. */
const mostGrouped = 12

export const compareRunRoutes = [
  route('get', '/runs/compare', { access: 'account' }, async (visit) => {
    const { query } = visit
    const ids = [...new Set(query.getAll('ids').flatMap((text) => text.split(',')))].filter(isRunId)
    const by = query.get('by') ?? ''
    const shown = ids.slice(0, by === '' ? mostLines : mostGrouped)
    const compared = await Promise.all(shown.map((id) => readCompared(visit, id)))
    const { data } = await visit.api.GET('/v1/runs', { params: { query: { limit: 50 } } })
    const others = data.runs.filter(({ id }) => !ids.includes(id))
    return visit.page(
      <ComparePage
        compared={compared}
        chosen={{ ids, metric: query.get('metric') ?? 'return_mean', by }}
        others={others}
        address={`${visit.host.publicUrl}/runs/compare?${query}`}
      />,
      { title: 'Compare runs', hidden: true },
    )
  }),
]

async function readCompared(visit: Visit, id: string): Promise<ComparedRun> {
  const run = await findRun(visit, id)
  const [points, targets] = await Promise.all([readPoints(visit, id), successTargets(visit, run)])
  return { run, points, targets }
}

type ComparedRun = { run: Run; points: ProgressEvent[]; targets: SuccessCriteria }
/** As in the address. `by`: what runs are grouped by: `seed`, `algorithm`, a setting, or nothing. */
type Chosen = { ids: string[]; metric: string; by: string }

type ComparePageProps = {
  compared: ComparedRun[]
  chosen: Chosen
  /** Runs that can be added. */
  others: Run[]
  /** Of this page. */
  address: string
}

/** Curves of several runs, one pair of axes for each scenario, and a table of their differences. */
function ComparePage({ compared, chosen, others, address }: ComparePageProps) {
  const goOn = compared.some(({ run }) => run.state === 'queued' || run.state === 'running')
  useIsland('compare-live')
  const metrics = metricsOf(compared)
  const metric = metrics.find(({ path }) => path === chosen.metric) ?? metrics[0]
  const { ids } = chosen
  return (
    <div class="workspace" data-compare data-compare-live={goOn ? 'yes' : undefined}>
      <div class="workspace-head">
        <h1>Compare runs</h1>
      </div>
      {compared.length === 0 ? (
        <EmptyState title="No runs selected">
          <p>Select runs in your list, or add one below.</p>
        </EmptyState>
      ) : (
        <>
          {ids.length > compared.length && (
            <Notice kind="info">
              Showing the first {compared.length} of {ids.length} runs.
              {chosen.by === '' && ' Group them to compare more.'}
            </Notice>
          )}
          <details class="more">
            <summary>
              {metric.title}, {groupingText(chosen.by)}
            </summary>
            <div class="more-fields">
              <Choices chosen={{ ...chosen, metric: metric.path }} metrics={metrics} compared={compared} />
            </div>
          </details>
          <div data-part="curves" class="compare-curves">
            {byScenario(compared).map((runs) => (
              <ScenarioChart runs={runs} metric={metric} by={chosen.by} />
            ))}
          </div>
          <div data-part="metrics">
            <Table caption="Runs side by side" rows={rowsOf(compared)} columns={columnsOf(compared)} />
          </div>
          <details class="more">
            <summary>Add, remove, share</summary>
            <div class="more-fields">
              <RemoveRuns chosen={chosen} compared={compared} />
              {others.length > 0 && <AddRuns chosen={chosen} others={others} />}
              <p class="dim">The link opens this comparison for everyone who can see its runs.</p>
              <Command text={address} label="Copy link" />
            </div>
          </details>
        </>
      )}
      {compared.length === 0 && others.length > 0 && <AddRuns chosen={chosen} others={others} />}
    </div>
  )
}

/** Every metric that one of the runs has. */
function metricsOf(compared: ComparedRun[]): RunMetric[] {
  const found = compared.flatMap(({ points, targets }) => runMetrics(points, targets))
  return [...new Map(found.map((metric) => [metric.path, metric])).values()]
}

/** Returns of different scenarios, or of different versions of one, say nothing about each other. */
function byScenario(compared: ComparedRun[]): ComparedRun[][] {
  return [...Map.groupBy(compared, ({ run }) => run.scenario.hash).values()]
}

function ScenarioChart({ runs, metric, by }: { runs: ComparedRun[]; metric: RunMetric; by: string }) {
  const { name, version } = runs[0].run.scenario
  const groups = [...Map.groupBy(runs, ({ run }) => groupKey(run, by)).values()].slice(0, mostLines)
  const lines = groups.map((group) => lineOf(group, metric, by))
  const target = Object.entries(runs[0].targets).find(([metricName]) => pathOf(metricName) === metric.path)?.[1]
  const grouped = groups.some(({ length }) => length > 1)
  return (
    <LineChart
      title={`${metric.title} on ${name}@${version}`}
      unit="environment steps"
      size="large"
      level={2}
      values={metric.unit}
      target={target === undefined ? undefined : { value: target, name: 'Target' }}
      series={lines.map(({ series }) => series)}
      bands={grouped ? lines.map(({ band }) => band) : undefined}
      bandName={grouped ? 'Range of a group’s runs' : undefined}
      pointed
    />
  )
}

function groupKey(run: Run, by: string): string {
  if (by === '') return run.id
  if (by === 'seed') return sameButSeed(run)
  return by === 'algorithm' ? run.algorithm : JSON.stringify(run.settings[by] ?? null)
}

/** A run's curve, or the mean and range of a group's. */
function lineOf(group: ComparedRun[], { path }: RunMetric, by: string): { series: ChartSeries; band: Band } {
  const [{ run, points }] = group
  if (group.length === 1) {
    const name = by === '' || by === 'seed' ? runName(run) : groupName(run, by)
    return { series: { name, points: seriesOf(points, path) }, band: [] }
  }
  const band = bandOf(group.map((one) => seriesOf(one.points, path)))
  const name = `${groupName(run, by)}, mean of ${group.length}`
  return { series: { name, points: band.map(({ x, mean }) => ({ x, y: mean })) }, band }
}
type Band = ReturnType<typeof bandOf>

function groupName(run: Run, by: string): string {
  if (by === 'seed') return run.note ?? `${run.algorithm.toUpperCase()} ${run.id.slice(0, 8)}`
  return by === 'algorithm' ? run.algorithm.toUpperCase() : `${by}=${JSON.stringify(run.settings[by] ?? null)}`
}

function groupingText(by: string): string {
  if (by === '') return 'not grouped'
  return by === 'seed' ? 'same settings, all seeds' : `grouped by ${by}`
}

type ChoicesProps = { chosen: Chosen; metrics: RunMetric[]; compared: ComparedRun[] }

function Choices({ chosen: { ids, metric, by }, metrics, compared }: ChoicesProps) {
  const options = [
    { value: '', label: 'No grouping' },
    { value: 'seed', label: 'Same settings, all seeds' },
    { value: 'algorithm', label: 'Algorithm' },
    ...differingSettings(compared).map((value) => ({ value, label: value })),
  ]
  return (
    <form class="workspace-filter" method="get" action="/runs/compare" aria-label="What to compare">
      {ids.map((id) => (
        <input type="hidden" name="ids" value={id} />
      ))}
      <label>
        Metric
        <select name="metric">
          {metrics.map(({ path, title }) => (
            <option value={path} selected={path === metric}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Group by
        <select name="by">
          {options.map(({ value, label }) => (
            <option value={value} selected={value === by}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Button>Show</Button>
    </form>
  )
}

function differingSettings(compared: ComparedRun[]): string[] {
  const names = new Set(compared.flatMap(({ run }) => Object.keys(run.settings)))
  return [...names].filter(
    (name) => new Set(compared.map(({ run }) => JSON.stringify(run.settings[name] ?? null))).size > 1,
  )
}

type Row = { name: string; cells: Child[]; differs: boolean }

function columnsOf(compared: ComparedRun[]): Column<Row>[] {
  return [
    {
      title: 'Metric',
      heading: true,
      cell: ({ name, differs }) => <span class={differs ? 'differs' : 'dim'}>{name}</span>,
    },
    ...compared.map(({ run }, index): Column<Row> => ({ title: runName(run), cell: ({ cells }) => cells[index] })),
  ]
}

function rowsOf(compared: ComparedRun[]): Row[] {
  const runs = compared.map(({ run }) => run)
  const row = (name: string, cell: (run: Run) => string): Row => {
    const cells = runs.map(cell)
    return { name, cells, differs: new Set(cells).size > 1 }
  }
  const drawn = (name: string, cell: (run: Run) => Child): Row => ({ name, cells: runs.map(cell), differs: false })
  return [
    drawn('Run', ({ id }) => (
      <a class="mono" href={`/runs/${id}`}>
        {id.slice(0, 8)}
      </a>
    )),
    drawn('State', ({ state }) => <RunState state={state} />),
    drawn('Outcome', ({ evaluation }) =>
      evaluation === null ? '–' : <Outcome success={evaluation.success} returnMean={evaluation.return_mean} />,
    ),
    row('Scenario', ({ scenario }) => `${scenario.name}@${scenario.version}`),
    row('Algorithm', ({ algorithm }) => algorithm.toUpperCase()),
    row('Seed', ({ seed }) => String(seed)),
    row('Evaluated return', ({ evaluation }) => formatMetric(evaluation?.return_mean)),
    row('Mean return', ({ progress }) => formatMetric(progress?.return_mean)),
    row('Steps', ({ progress }) => (progress?.steps ?? 0).toLocaleString('en')),
    row('Throughput (steps/s)', ({ progress }) => formatMetric(progress?.steps_per_second)),
    row('Time', ({ progress }) => (progress === null ? '–' : formatDuration(progress.seconds))),
    row('Cost', ({ cost }) => formatAmount(cost.spent_minor, cost.currency)),
    ...differingSettings(compared).map((name) => row(name, (run) => JSON.stringify(run.settings[name]) ?? '–')),
  ]
}

function addressOf({ ids, metric, by }: Chosen): string {
  const query = new URLSearchParams([...ids.map((id): [string, string] => ['ids', id]), ['metric', metric], ['by', by]])
  return `/runs/compare?${query}`
}

function RemoveRuns({ chosen, compared }: { chosen: Chosen; compared: ComparedRun[] }) {
  return (
    <ul class="compare-remove">
      {compared.map(({ run }) => (
        <li>
          <a href={addressOf({ ...chosen, ids: chosen.ids.filter((id) => id !== run.id) })}>
            Remove {runName(run)} <span class="mono dim">{run.id.slice(0, 8)}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function AddRuns({ chosen: { ids, metric, by }, others }: { chosen: Chosen; others: Run[] }) {
  return (
    <form class="workspace-filter" method="get" action="/runs/compare" aria-label="Add a run">
      {ids.map((id) => (
        <input type="hidden" name="ids" value={id} />
      ))}
      <input type="hidden" name="metric" value={metric} />
      <input type="hidden" name="by" value={by} />
      <label>
        <span class="visually-hidden">Run</span>
        <select name="ids">
          {others.map((run) => (
            <option
              value={run.id}
            >{`${runName(run)} · ${run.scenario.name} · ${run.id.slice(0, 8)} · ${run.state}`}</option>
          ))}
        </select>
      </label>
      <Button>Add</Button>
    </form>
  )
}
