import type { DoctorReport } from '@agentgym/runtime'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/scenarios.ts'
import { formatValue } from '../terminal/format-values.ts'
import { indented, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote, wrapText } from '../terminal/text.ts'

/** `agentgym scenario doctor`. */
export function addScenarioDoctor(scenario: Command, action: MakeAction): void {
  scenario
    .command('doctor')
    .argument('[DIR]', 'scenario folder or built-in name', '.')
    .description('look for reward hacking and degenerate tasks, before anyone trains')
    .action(action(scenarioDoctor))
}

/** Shows what players reach that need no training, and what that says of the scenario; exit 1 where it is a problem. */
async function scenarioDoctor(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(folder)
  const { name, version } = scenario.package
  const { terminal } = context
  context.print(`${terminal.symbols.next} Examining ${safeText(`${name}@${version}`, 240)}`)
  const report = await runtime.diagnoseScenario(scenario)
  const problems = report.findings.filter(({ severity }) => severity === 'problem').length
  context.printJson({ ok: problems === 0, name, version, ...report })
  for (const line of doctorLines(report, terminal)) context.print(line)
  if (problems > 0) context.exitCode = 1
  const next = problems > 0 ? 'doctor' : 'check'
  const command = `agentgym scenario ${next} ${shellQuote(context.displayPath(folder))}`
  context.print(
    `${terminal.symbols.next} ${problems > 0 ? 'Fix the problems and examine it again' : 'Run all checks'}: ${terminal.paint.accent(command)}`,
  )
}

/** The table of players, then the findings, each with its evidence and how to fix it. */
export function doctorLines(report: DoctorReport, terminal: Terminal): string[] {
  const columns = [
    { title: 'Player', shrink: true },
    { title: 'Return', align: 'right' as const },
    { title: 'Steps', align: 'right' as const },
    { title: 'Success', align: 'right' as const },
    { title: 'Episodes', align: 'right' as const },
  ]
  const rows = report.players.map(({ player, return_mean, length_mean, meets_success, episodes }) => [
    safeText(player, 60),
    formatValue(return_mean),
    formatValue(length_mean),
    meets_success === null ? '' : meets_success ? 'yes' : 'no',
    String(episodes),
  ])
  const table = rows.length === 0 ? [] : renderTable(columns, rows, indented(terminal))
  return [
    ...table.map((line) => `  ${line}`),
    ...levelLines(report, terminal),
    '',
    ...report.findings.flatMap((one) => findingLines(one, terminal)),
    ...endLines(report, terminal),
  ]
}

/** Mean returns by level: a row a player, as wide as the terminal allows. */
function levelLines({ players }: DoctorReport, terminal: Terminal): string[] {
  const names = players.find(({ levels }) => levels !== undefined)?.levels?.map(({ name }) => name) ?? []
  if (names.length === 0) return []
  const columns = [
    { title: 'Return by level', shrink: true },
    ...names.map((name) => ({ title: safeText(name, 40), align: 'right' as const })),
  ]
  const rows = players.map(({ player, levels = [] }) => [
    safeText(player, 60),
    ...names.map((_, i) => formatValue(levels[i]?.return_mean ?? null)),
  ])
  return ['', ...renderTable(columns, rows, indented(terminal)).map((line) => `  ${line}`)]
}

function findingLines(
  { id, severity, message, fix, evidence }: DoctorReport['findings'][number],
  terminal: Terminal,
): string[] {
  const { paint, symbols } = terminal
  const marks = {
    problem: paint.fail(symbols.failed),
    warning: paint.warn(symbols.warning),
    note: paint.dim(symbols.next),
  }
  const width = Math.max(20, Math.min(terminal.columns(), 110) - 6)
  const shown = Object.entries(evidence).map(([name, value]) => `${name} ${value ?? 'none'}`)
  const paragraph = (text: string, style: (line: string) => string = (line) => line) =>
    wrapText(safeText(text, 2_000), width).map((line) => `    ${style(line)}`)
  return [
    `  ${marks[severity]} ${paint.bold(safeText(id, 60))}`,
    ...paragraph(message),
    ...paragraph(`Fix: ${fix}`),
    ...paragraph(shown.join(', '), paint.dim),
  ]
}

function endLines({ findings, not_shown }: DoctorReport, { paint, symbols, columns }: Terminal): string[] {
  const count = (of: string) => findings.filter(({ severity }) => severity === of).length
  const missed = not_shown.flatMap((what) =>
    wrapText(`not shown: ${safeText(what, 200)}`, Math.max(20, columns() - 4)).map((line) => paint.dim(`  ${line}`)),
  )
  if (findings.length === 0) return [...missed, `${paint.accent(symbols.ok)} Nothing found`]
  const parts = [
    [count('problem'), 'problem'],
    [count('warning'), 'warning'],
    [count('note'), 'note'],
  ] as const
  const text = parts.flatMap(([n, word]) => (n === 0 ? [] : [`${n} ${word}${n === 1 ? '' : 's'}`])).join(', ')
  return [...missed, `${count('problem') > 0 ? paint.fail(symbols.failed) : paint.accent(symbols.ok)} ${text}`]
}
