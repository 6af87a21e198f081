import { formatAmount, type Run } from '@agentgym/contract'
import { RunState } from '../../components/run-state.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'
import { stepCount } from '../../pictures/step-count.ts'

/** Runs to compare at a glance; `tickable` inside of a form that takes their `ids`. */
export function RunTable({ runs, tickable = false }: { runs: Run[]; tickable?: boolean }) {
  const tick: Column<Run> = {
    title: 'Compare',
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
      progress === null ? '–' : `${stepCount(progress.steps)} / ${stepCount(progress.steps_total)}`,
    wide: true,
  },
  { title: 'Cost', numeric: true, cell: ({ cost }) => formatAmount(cost.spent_minor, cost.currency), wide: true },
  { title: 'Started', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
]

/** Of its evaluation, or of the last episodes while it trains. */
function returnOf({ evaluation, progress }: Run): string {
  const value = evaluation?.return_mean ?? progress?.return_mean ?? null
  return value === null ? '–' : shownNumber(value)
}
