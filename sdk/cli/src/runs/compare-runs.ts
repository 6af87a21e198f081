import { writeFile } from 'node:fs/promises'
import type { Evaluation } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { shortId } from '../registry/find-by-id.ts'
import { sparkline } from '../terminal/charts.ts'
import { formatCount, formatDuration, formatValue } from '../terminal/format-values.ts'
import { renderTable, titleLine } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText } from '../terminal/text.ts'
import type { ReturnCurve } from './curve-lines.ts'

/** A run of this machine or of a server, as comparisons need it. */
export type ComparedRun = {
  id: string
  /** `name@version` */
  scenario: string
  algorithm: string
  settings: Record<string, unknown>
  seed: number
  steps: number
  seconds: number
  evaluation: Evaluation | null
  curve: ReturnCurve
}

/** Runs that differ in their seed only. */
export type SeedGroup = { runs: ComparedRun[]; returns: { mean: number; sd: number | null; count: number } | null }

/** Settings that say how a machine does the work; runs that differ in nothing else are the same experiment. */
const machineSettings = new Set(['rollout_workers', 'learner_threads', 'checkpoint_every'])

/** In the order of the first run of each group. */
export function groupBySettings(runs: readonly ComparedRun[]): SeedGroup[] {
  const groups = new Map<string, ComparedRun[]>()
  for (const run of runs) {
    const settings = Object.entries(run.settings).filter(([name]) => !machineSettings.has(name))
    const key = JSON.stringify([run.scenario, run.algorithm, settings.sort(([a], [b]) => (a < b ? -1 : 1))])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [run])
    else group.push(run)
  }
  return [...groups.values()].map((group) => ({ runs: group, returns: summarize(group) }))
}

/** Mean and unbiased standard deviation of the held-out returns; null if no run has one. */
function summarize(runs: readonly ComparedRun[]): SeedGroup['returns'] {
  const values = runs.flatMap(({ evaluation }) => evaluation?.return_mean ?? [])
  if (values.length === 0) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, sd: values.length === 1 ? null : Math.sqrt(squares / (values.length - 1)), count: values.length }
}

/** Draws the learning curves of all experiments into one SVG file; targets are drawn where all are of one scenario. */
export async function writeCurves(groups: readonly SeedGroup[], path: string, context: CommandContext): Promise<void> {
  const { drawSeedCurves } = await context.runtime()
  const runs = groups.flatMap((group) => group.runs)
  const scenarios = new Set(runs.map(({ scenario }) => scenario))
  const criterion = runs
    .flatMap(({ evaluation }) => evaluation?.success.criteria ?? [])
    .find(({ metric }) => metric === 'return_mean')
  const target = scenarios.size === 1 ? (criterion?.target ?? null) : null
  const experiments = groups.map(({ runs }) => ({
    label: scenarios.size === 1 ? `${runs[0].algorithm} ${shortId(runs[0].id)}` : runs[0].scenario,
    curves: runs.map(({ curve }) => curve),
  }))
  await writeFile(path, drawSeedCurves(experiments, { title: [...scenarios].slice(0, 3).join(', '), target }))
}

/** Runs side by side: results, then seeds of one experiment together, then the settings that differ. */
export function comparisonLines(runs: readonly ComparedRun[], terminal: Terminal): string[] {
  const groups = groupBySettings(runs)
  const single = new Set(runs.map(({ scenario }) => scenario)).size === 1
  return [
    ...(single ? [titleLine('Runs on', runs[0].scenario, terminal)] : []),
    ...runLines(
      groups.flatMap((group) => group.runs),
      single,
      terminal,
    ),
    ...groups.flatMap((group) => seedLines(group, terminal)),
    ...settingLines(groups, terminal),
  ]
}

const curveWidth = 16

function runLines(runs: readonly ComparedRun[], single: boolean, terminal: Terminal): string[] {
  const columns = [
    { title: 'Run' },
    ...(single ? [] : [{ title: 'Scenario', shrink: true }]),
    { title: 'Algorithm' },
    { title: 'Seed', align: 'right' as const },
    { title: 'Steps', align: 'right' as const },
    { title: 'Time', align: 'right' as const },
    { title: 'Return', align: 'right' as const },
    { title: 'Targets', align: 'right' as const },
    { title: 'Curve' },
  ]
  const rows = runs.map((run) => [
    shortId(run.id),
    ...(single ? [] : [safeText(run.scenario, 240)]),
    safeText(run.algorithm, 20),
    String(run.seed),
    formatCount(run.steps),
    formatDuration(run.seconds),
    formatValue(run.evaluation?.return_mean ?? run.curve.at(-1)?.return_mean),
    targetsText(run.evaluation),
    sparkline(
      run.curve.map(({ return_mean }) => return_mean),
      curveWidth,
      terminal.symbols,
    ),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

function targetsText(evaluation: Evaluation | null): string {
  if (evaluation === null || evaluation.success.criteria.length === 0) return '-'
  const { criteria } = evaluation.success
  return `${criteria.filter(({ ok }) => ok).length} of ${criteria.length}`
}

/** `Seeds 1, 2, 3: mean return 480.1 (sd 12.3), 2 of 3 reached every target`; nothing for a single run. */
export function seedLines({ runs, returns }: SeedGroup, { symbols, paint }: Terminal): string[] {
  if (runs.length < 2 || returns === null) return []
  const seeds = runs.map(({ seed }) => seed).join(', ')
  const sd = returns.sd === null ? '' : ` (sd ${formatValue(returns.sd)})`
  const judged = runs.filter(({ evaluation }) => evaluation !== null && evaluation.success.ok !== null)
  const reached = judged.filter(({ evaluation }) => evaluation?.success.ok).length
  const targets = judged.length === 0 ? '' : `, ${reached} of ${judged.length} reached every target`
  return [
    `${symbols.next} ${safeText(runs[0].scenario, 240)}, seeds ${seeds}: mean return ${paint.bold(formatValue(returns.mean))}${sd}${targets}`,
  ]
}

function settingLines(groups: readonly SeedGroup[], terminal: Terminal): string[] {
  if (groups.length < 2) return []
  const experiments = groups.map(({ runs }) => ({ algorithm: runs[0].algorithm, ...runs[0].settings }))
  const names = [...new Set(experiments.flatMap((settings) => Object.keys(settings)))]
  const texts = (name: string) =>
    experiments.map((settings) => JSON.stringify((settings as Record<string, unknown>)[name]) ?? '-')
  const rows = names.flatMap((name) => {
    const values = texts(name)
    return values.every((value) => value === values[0])
      ? []
      : [[safeText(name, 60), ...values.map((v) => safeText(v, 60))]]
  })
  if (rows.length === 0) return []
  const columns = [{ title: 'Setting' }, ...groups.map(({ runs }) => ({ title: shortId(runs[0].id) }))]
  return ['Settings that differ', ...renderTable(columns, rows, terminal)]
}
