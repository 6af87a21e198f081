import type { ProgressEvent } from '@agentgym/contract'
import { shortId } from '../registry/find-by-id.ts'
import { formatAge, formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import { fieldLines, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, wrapText } from '../terminal/text.ts'
import { evaluationLines } from '../training-view/summary-lines.ts'
import { curveLines, type ReturnCurve } from './curve-lines.ts'
import type { LocalRun } from './local-runs.ts'

type PathOptions = { displayPath(path: string): string; nowMs: number }

/** Runs of this machine as a table. */
export function localRunLines(runs: readonly LocalRun[], terminal: Terminal, options: PathOptions): string[] {
  const wide = terminal.columns() >= 110
  const columns = [
    { title: 'Run' },
    { title: 'State' },
    { title: 'Scenario', shrink: true },
    { title: 'Algorithm' },
    { title: 'Seed', align: 'right' as const },
    { title: 'Done', align: 'right' as const },
    { title: 'Return', align: 'right' as const },
    { title: 'Age', align: 'right' as const },
    ...(wide ? [{ title: 'Agent', shrink: true }] : []),
  ]
  const rows = runs.map((run) => [
    shortId(run.id),
    localStateText(run, terminal),
    safeText(run.scenario, 240),
    safeText(run.algorithm, 20),
    String(run.seed),
    run.state === 'completed' ? '100%' : `${Math.floor((run.steps / Math.max(run.steps_total, 1)) * 100)}%`,
    formatValue(run.evaluation?.return_mean ?? run.return_mean),
    formatAge(run.started_at, options.nowMs),
    ...(wide ? [safeText(options.displayPath(run.agent), 240)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

/** Everything about a run of this machine: fields, curve, result. */
export function localRunReport(
  run: LocalRun,
  curve: ReturnCurve,
  terminal: Terminal,
  options: PathOptions & { verbose: boolean },
): string[] {
  const { paint, symbols } = terminal
  const width = Math.min(terminal.columns(), 100) - 2
  const failure =
    run.error === null || run.state === 'stopped' ? [] : wrapText(safeText(run.error.message, 2_000), width)
  const settings = Object.entries(run.settings).map(([name, value]): [string, string] => [name, JSON.stringify(value)])
  return [
    `${paint.bold(`Run ${shortId(run.id)}`)} ${symbols.dot} ${localStateText(run, terminal)} on this machine`,
    ...failure.map((line, index) => `${index === 0 ? paint.fail(symbols.failed) : ' '} ${line}`),
    ...fieldLines(fields(run, options), terminal),
    ...curveLines(
      curve,
      { target: run.success.return_mean, stepsEnd: run.ended_at === null ? run.steps_total : undefined },
      terminal,
    ),
    ...(run.evaluation === null ? [] : ['Result', ...evaluationLines(run.evaluation, terminal)]),
    ...(options.verbose ? ['Settings', ...fieldLines(settings, terminal)] : []),
  ]
}

function fields(run: LocalRun, { displayPath, nowMs }: PathOptions): [string, string][] {
  return [
    ['id', run.id],
    ['scenario', run.scenario],
    ['algorithm', `${run.algorithm}, seed ${run.seed}`],
    ['started', `${run.started_at.slice(0, 19).replace('T', ' ')}, ${formatAge(run.started_at, nowMs)} ago`],
    ['trained', `${formatCount(run.steps)} of ${formatCount(run.steps_total)} steps in ${formatDuration(run.seconds)}`],
    ['agent', displayPath(run.agent)],
  ]
}

/** A run's state, with its symbol. */
function localStateText({ state }: LocalRun, { symbols }: Terminal): string {
  switch (state) {
    case 'completed':
      return `${symbols.ok} completed`
    case 'failed':
      return `${symbols.failed} failed`
    case 'running':
      return 'running'
    default:
      return `${symbols.warning} ${state}`
  }
}

/** Points of the curve in which the mean return is known. */
export function returnCurve(points: readonly ProgressEvent[]): ReturnCurve {
  return points.flatMap(({ steps, return_mean }) => (return_mean === null ? [] : [{ steps, return_mean }]))
}
