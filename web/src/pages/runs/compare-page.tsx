import { formatAmount, type ProgressEvent, type Run } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { LineChart } from '../../components/line-chart.tsx'
import { RunState } from '../../components/run-state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { useIsland } from '../../layout/page-context.ts'
import { shownNumber } from '../../pictures/shown-number.ts'
import { durationWords } from './duration-words.ts'
import { seriesOf } from './series-of.ts'

export type ComparedRun = { run: Run; points: ProgressEvent[] }

/** Runs side by side: their curves over one axis, and where they differ. */
export function ComparePage({ compared, others }: { compared: ComparedRun[]; others: Run[] }) {
  const names = compared.map(({ run }) => runName(run))
  const goOn = compared.some(({ run }) => run.state === 'queued' || run.state === 'running')
  if (goOn) useIsland('compare-live')
  return (
    <div class="desk" data-compare-live={goOn ? 'yes' : undefined}>
      <div class="desk-head">
        <h1>Compare runs</h1>
        <Button href="/runs">All runs</Button>
      </div>
      {compared.length === 0 ? (
        <EmptyState title="Curves of runs stand here over each other">
          <p>Tick runs in your list, or add them below.</p>
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
          <div data-part="figures">
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
      title: 'Figure',
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
    row('Evaluated return', ({ evaluation }) => shownOr(evaluation?.return_mean)),
    row('Mean return', ({ progress }) => shownOr(progress?.return_mean)),
    row('Steps', ({ progress }) => (progress?.steps ?? 0).toLocaleString('en')),
    row('Steps a second', ({ progress }) => shownOr(progress?.steps_per_second)),
    row('Time', ({ progress }) => (progress === null ? '–' : durationWords(progress.seconds))),
    row('Cost', ({ cost }) => formatAmount(cost.spent_minor, cost.currency)),
    // Of the settings, what is not the same.
    ...settings
      .map((name) => row(name, (run) => JSON.stringify(run.settings[name]) ?? '–'))
      .filter(({ differs }) => differs),
  ]
}

function shownOr(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : shownNumber(value)
}

function AddRuns({ compared, others }: { compared: ComparedRun[]; others: Run[] }) {
  return (
    <form class="desk-filter" method="get" action="/runs/compare" aria-label="Add a run">
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
