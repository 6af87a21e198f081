import { join } from 'node:path'
import { AgentGymError, formatAmount, type Run, runSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { budgetWord, cursorText, oneOf, pageRange, readAmount, wholeNumber } from '../option-values.ts'
import { clientOf, explained } from '../registry/call-api.ts'
import { exportTo } from '../registry/export-to.ts'
import { shortId } from '../registry/find-by-id.ts'
import { downloadAgent } from '../runs/download-agent.ts'
import { cancelRun, findRun, hasEnded, listRuns, resumeRun, runPath } from '../runs/run-api.ts'
import { readHistory, runReport, runStateText } from '../runs/run-report.ts'
import { howToFollow, watchRunHere } from '../runs/watch-run-here.ts'
import { agentsFolder } from '../targets/agents.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { formatAge, formatValue } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { moreCommand, safeText, shellQuote } from '../terminal/text.ts'
import { costText } from '../training-view/run-state.ts'

/** `agentgym runs …`: training runs on the server's workers. */
export function addRunCommands(program: Command, action: MakeAction): void {
  const runs = program
    .command('runs')
    .usage('COMMAND [options]')
    .description("list, follow and manage runs on the server's workers")
  runs
    .command('list')
    .description('list your runs, newest first')
    .option('--state <STATE>', 'queued, running, completed, failed, cancelled or budget_exceeded')
    .option('--scenario <NAME>', 'runs on this scenario: @scope/name')
    .option('--account <NAME>', 'runs of this account (default: all of yours)')
    .option('--limit <N>', 'runs per page (default: 20)', wholeNumber('limit', pageRange))
    .option('--cursor <CURSOR>', cursorText)
    .action(action(runsList))
  runs
    .command('show')
    .argument('<RUN>', runArgument)
    .description('show a run: learning curve, result, cost and events')
    .action(action(runsShow))
  runs
    .command('watch')
    .argument('<RUN>', runArgument)
    .description('follow a run until it ends; Ctrl-C detaches and leaves it running')
    .action(action(runsWatch))
  runs
    .command('cancel')
    .argument('<RUN>', runArgument)
    .description('cancel a run; its last checkpoint is kept for a while')
    .action(action(runsCancel))
  runs
    .command('resume')
    .argument('<RUN>', runArgument)
    .description('resume a run that used up its budget')
    .requiredOption('--budget <AMOUNT>', 'new limit for the whole run, such as 5.00')
    .action(action(runsResume))
  addRunFiles(runs, action)
}

const runArgument = 'run ID, or its first 4 or more characters'

function addRunFiles(runs: Command, action: MakeAction): void {
  runs
    .command('download')
    .argument('<RUN>', runArgument)
    .description('download the agent of a completed run')
    .option('--out <DIR>', 'output folder of the agent (default: agents/NAME)')
    .option('--force', 'move an existing agent aside')
    .action(action(runsDownload))
  runs
    .command('export')
    .argument('<RUN>', runArgument)
    .description('export the learning curve or the trajectories of a run')
    .option('--csv', 'learning curve as CSV, one row per iteration (the default)')
    .option('--tensorboard', 'learning curve as a TensorBoard event file')
    .option('--trajectories', 'sampled trajectories as NDJSON')
    .option('--out <FILE>', 'output file, - for stdout (default: named after the run)')
    .action(action(runsExport))
}

type RunsListFlags = { state?: string; scenario?: string; account?: string; limit?: number; cursor?: string }

/** `agentgym runs list`: the user's runs on the server, newest first. */
export async function runsList(flags: RunsListFlags, context: CommandContext): Promise<void> {
  if (flags.state !== undefined) oneOf('state', flags.state, runSchema.shape.state.options)
  const found = await listRuns(await findConnection(context), flags)
  context.sayJson(found)
  if (context.json) return
  const { terminal, say } = context
  const { paint, symbols } = terminal
  if (found.runs.length === 0) {
    const filtered = flags.state !== undefined || flags.scenario !== undefined || flags.account !== undefined
    say(filtered ? 'No run of yours fits.' : 'Your runs on the server will be here.')
    say(`${symbols.next} Start one: ${paint.accent('agentgym train @acme/cart-pole --remote --watch')}`)
    return
  }
  for (const line of runLines(found.runs, terminal, Date.now())) say(line)
  if (found.next_cursor === null) {
    const id = shortId(found.runs[0].id)
    say(`${symbols.next} Look closer: ${paint.accent(`agentgym runs show ${id}`)}`)
    return
  }
  const more = moreCommand('agentgym runs list', flags, found.next_cursor)
  say(`${symbols.next} More: ${paint.accent(more)}`)
}

/** The table of runs; `nowMs` is what their age is told from. */
export function runLines(runs: readonly Run[], terminal: Terminal, nowMs: number): string[] {
  // Where there is no room for all, the scenario's name is worth more.
  const wide = terminal.columns() >= 110
  const columns = [
    { title: 'Run' },
    { title: 'State' },
    { title: 'Scenario', shrink: true },
    { title: 'Done', align: 'right' as const },
    { title: 'Return', align: 'right' as const },
    { title: 'Cost', align: 'right' as const },
    { title: 'Age', align: 'right' as const },
    ...(wide ? [{ title: 'Algorithm' }, { title: 'Note', shrink: true }] : []),
  ]
  const rows = runs.map((run) => [
    shortId(run.id),
    runStateText(run, terminal),
    safeText(`${run.scenario.name}@${run.scenario.version}`, 240),
    doneText(run),
    formatValue(run.evaluation?.return_mean ?? run.progress?.return_mean),
    costText(run) ?? '-',
    formatAge(run.created_at, nowMs),
    ...(wide ? [safeText(run.algorithm, 20), safeText(run.note ?? '', 200)] : []),
  ])
  return renderTable(columns, rows, terminal, (text, _, column) => (column === 0 ? terminal.paint.bold(text) : text))
}

function doneText({ progress, state }: Run): string {
  if (state === 'completed') return '100%'
  return progress === null ? '-' : `${Math.floor((progress.steps / Math.max(progress.steps_total, 1)) * 100)}%`
}

/** `agentgym runs show`: all of a run: its curve, its result, what it cost and what befell it. */
export async function runsShow(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const history = await readHistory(connection, run)
  context.sayJson({ ...run, ...history })
  if (context.json) return
  const options = { verbose: context.verbose, nowMs: Date.now() }
  for (const line of runReport(run, history, context.terminal, options)) context.say(line)
  context.say(nextLine(run, context.terminal))
}

function nextLine(run: Run, { paint, symbols }: Terminal): string {
  const id = shortId(run.id)
  const next: Record<Run['state'], [string, string]> = {
    queued: ['Watch it', `agentgym runs watch ${id}`],
    running: ['Watch it', `agentgym runs watch ${id}`],
    completed: ['Fetch the agent', `agentgym runs download ${id}`],
    budget_exceeded: ['Go on with a higher budget', `agentgym runs resume ${id} --budget AMOUNT`],
    failed: ['Other runs', 'agentgym runs list'],
    cancelled: ['Other runs', 'agentgym runs list'],
  }
  const [what, command] = next[run.state]
  return `${symbols.next} ${what}: ${paint.accent(command)}`
}

/** `agentgym runs watch`: a run from its first event to its end. It writes nothing here: `runs download` does. */
export async function runsWatch(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  await watchRunHere(connection, run, { out: null, force: false }, context)
}

/** `agentgym runs cancel`: a queued run ends at once; a worker that has it saves a checkpoint first. */
export async function runsCancel(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await cancelRun(connection, (await findRun(connection, text)).id)
  context.sayJson(run)
  const { paint, symbols } = context.terminal
  const id = shortId(run.id)
  if (hasEnded(run)) {
    context.say(`${paint.accent(symbols.ok)} The run ${paint.bold(id)} is cancelled`)
    return
  }
  context.say(`${paint.accent(symbols.ok)} The run ${paint.bold(id)} ends as soon as its worker has saved a checkpoint`)
  context.say(`${symbols.next} See it end: ${paint.accent(`agentgym runs watch ${id}`)}`)
}

/** `agentgym runs resume`: a run that used up its budget goes on from its last checkpoint with a higher one. */
export async function runsResume(text: string, flags: { budget: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await findRun(connection, text)
  const budget = readAmount(flags.budget, found.cost.currency, budgetWord)
  const run = await resumeRun(connection, found.id, budget)
  context.sayJson(run)
  const { symbols } = context.terminal
  const { currency, spent_minor: spent } = run.cost
  context.say(
    `${symbols.next} Goes on with at most ${formatAmount(budget, currency)}, of which ${formatAmount(spent, currency)} are spent`,
  )
  for (const line of howToFollow(run, context)) context.say(line)
}

type RunsDownloadFlags = { out?: string; force?: boolean }

/** `agentgym runs download`: the agent of a completed run, in the folder where training here would have put it. */
export async function runsDownload(text: string, flags: RunsDownloadFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const out = context.resolve(flags.out ?? join(agentsFolder, unscopedName(run.scenario.name)))
  const { movedTo } = await downloadAgent(connection, run, out, { force: flags.force ?? false, context })
  context.sayJson({ ok: true, run: run.id, agent: out, integrity: run.agent?.integrity, moved_to: movedTo })
  const { paint, symbols } = context.terminal
  const folder = context.displayPath(out)
  if (movedTo !== null)
    context.say(`${symbols.next} The agent that was there moved to ${safeText(context.displayPath(movedTo))}`)
  context.say(`${paint.accent(symbols.ok)} The agent lies in ${paint.bold(safeText(folder))}`)
  context.say(`${symbols.next} Evaluate it again: ${paint.accent(`agentgym eval ${shellQuote(folder)}`)}`)
}

type RunsExportFlags = { csv?: boolean; tensorboard?: boolean; trajectories?: boolean; out?: string }

/** What may be exported: its address below the run's, and the file's name here. TensorBoard looks for `tfevents` in it. */
const formats = {
  csv: { path: 'metrics.csv', file: (id: string) => `run-${id}.csv` },
  tensorboard: { path: 'metrics.tfevents', file: (id: string) => `run-${id}.tfevents` },
  trajectories: { path: 'trajectories', file: (id: string) => `run-${id}-trajectories.ndjson` },
} as const
type Format = keyof typeof formats

/** `agentgym runs export`: a run's learning curve or sampled trajectories as a file; `--out -` writes to stdout. */
export async function runsExport(text: string, flags: RunsExportFlags, context: CommandContext): Promise<void> {
  const format = formatOf(flags)
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const { path, file } = formats[format]
  const fetch = () => explained(connection, () => clientOf(connection).send(`${runPath(run.id)}/${path}`))
  const about = { run: run.id, format }
  const bytes = await exportTo(flags.out ?? file(shortId(run.id)), { option: '--out', fetch, about }, context)
  if (format === 'trajectories' && bytes === 0) {
    const { symbols } = context.terminal
    context.say(`${symbols.warning} No trajectory was sampled: the run was started without --trajectories N`)
  }
}

function formatOf(flags: RunsExportFlags): Format {
  const chosen = (Object.keys(formats) as Format[]).filter((format) => flags[format])
  if (chosen.length <= 1) return chosen[0] ?? 'csv'
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `one export has one format, and ${chosen.map((format) => `--${format}`).join(' and ')} were given`,
    hint: 'Run the command once for each.',
  })
}
