import { join } from 'node:path'
import { AgentGymError, formatAmount, type Run, runSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { budgetOption, cursorText, oneOf, pageRange, readAmount, wholeNumber } from '../option-values.ts'
import { clientOf, explained } from '../registry/call-api.ts'
import { exportTo } from '../registry/export-to.ts'
import { shortId } from '../registry/find-by-id.ts'
import { type ComparedRun, comparisonLines, groupBySettings, writeCurves } from '../runs/compare-runs.ts'
import { downloadAgent } from '../runs/download-agent.ts'
import { localRunLines, localRunReport, returnCurve } from '../runs/local-report.ts'
import { findLocalRun, type LocalRun, listLocalRuns, readLocalCurve, removeLocalRun } from '../runs/local-runs.ts'
import { cancelRun, findRun, hasEnded, listRuns, pauseRun, resumeRun, runPath } from '../runs/run-api.ts'
import { readHistory, runReport, runStateText } from '../runs/run-report.ts'
import { howToFollow, watchRunHere } from '../runs/watch-run-here.ts'
import { agentsFolder } from '../targets/agents.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { formatAge, formatValue } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { moreCommand, safeText, shellQuote } from '../terminal/text.ts'
import { costText } from '../training-view/run-state.ts'

/** `agentgym runs …`: training runs on this machine and on the server's workers. */
export function addRunCommands(program: Command, action: MakeAction): void {
  const runs = program
    .command('runs')
    .usage('COMMAND [options]')
    .description("list, compare, follow and manage runs on this machine and on the server's workers")
  runs
    .command('list')
    .description('list the runs on this machine and yours on the server, newest first')
    .option('--local', 'only runs on this machine')
    .option('--remote', 'only runs on the server')
    .option('--state <STATE>', 'queued, running, completed, failed, cancelled, budget_exceeded or paused')
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
    .command('compare')
    .argument('<RUN...>', runArgument)
    .description('compare runs: results, curves, and the settings that differ')
    .option('--svg <FILE>', 'also draw their learning curves, with a band over the seeds of each experiment')
    .action(action(runsCompare))
  runs
    .command('remove')
    .argument('<RUN...>', runArgument)
    .description('remove the records of runs on this machine; their agents stay')
    .action(action(runsRemove))
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
    .command('pause')
    .argument('<RUN>', runArgument)
    .description('pause a run; resume it later from its checkpoint')
    .action(action(runsPause))
  runs
    .command('resume')
    .argument('<RUN>', runArgument)
    .description('resume a run that is paused or out of budget')
    .option('--budget <AMOUNT>', 'new limit for the whole run, such as 5.00; required for a run that is out of budget')
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
    .option('--jsonl', 'learning curve as JSON, one progress event per line')
    .option('--tensorboard', 'learning curve as a TensorBoard event file')
    .option('--trajectories', 'sampled trajectories as NDJSON')
    .option('--out <FILE>', 'output file, - for stdout (default: named after the run)')
    .action(action(runsExport))
}

type RunsListFlags = {
  local?: boolean
  remote?: boolean
  state?: string
  scenario?: string
  account?: string
  limit?: number
  cursor?: string
}

const defaultPage = 20

/** `agentgym runs list`: runs on this machine, and the user's runs on the server, newest first. */
export async function runsList(flags: RunsListFlags, context: CommandContext): Promise<void> {
  const { terminal, print } = context
  const { paint, symbols } = terminal
  const where = await listedPlaces(flags, context)
  const local = where.local ? await localRunsLike(flags, context) : []
  const found =
    where.server === null ? { runs: [], next_cursor: null } : await listRuns(where.server, serverFilter(flags))
  context.printJson({ ...found, local })
  if (context.json) return
  if (found.runs.length === 0 && local.length === 0) {
    const filtered = flags.state !== undefined || flags.scenario !== undefined || flags.account !== undefined
    print(filtered ? 'No matching runs.' : 'No runs yet.')
    const start = where.local ? 'agentgym train cart-pole' : 'agentgym train @acme/cart-pole --remote --watch'
    print(`${symbols.next} Start one: ${paint.accent(start)}`)
    return
  }
  const nowMs = Date.now()
  const both = local.length > 0 && found.runs.length > 0
  if (both) print('On this machine')
  if (local.length > 0) for (const line of localRunLines(local, terminal, { ...context, nowMs })) print(line)
  if (both) print(`On ${safeText(where.server?.server ?? '')}`)
  if (found.runs.length > 0) for (const line of runLines(found.runs, terminal, nowMs)) print(line)
  if (found.next_cursor === null) {
    const id = shortId((local[0] ?? found.runs[0]).id)
    print(`${symbols.next} Details: ${paint.accent(`agentgym runs show ${id}`)}`)
    return
  }
  const more = moreCommand('agentgym runs list', flags, found.next_cursor)
  print(`${symbols.next} More: ${paint.accent(more)}`)
}

/** Which runs to list: without a login, those of this machine; with a filter that only a server knows, those of the server. */
async function listedPlaces(
  flags: RunsListFlags,
  context: CommandContext,
): Promise<{ local: boolean; server: Connection | null }> {
  const serverOnly = (['state', 'account', 'cursor'] as const).find((name) => flags[name] !== undefined)
  if (flags.state !== undefined) oneOf('state', flags.state, runSchema.shape.state.options)
  if (flags.local && (flags.remote || serverOnly !== undefined)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `--local and --${serverOnly ?? 'remote'} cannot be combined`,
      hint: 'Remove one of them.',
    })
  }
  if (flags.local) return { local: true, server: null }
  const connection = await findConnection(context)
  if (flags.remote || serverOnly !== undefined) return { local: false, server: connection }
  return { local: true, server: connection.token === null ? null : connection }
}

function serverFilter({ local: _, remote: __, ...filter }: RunsListFlags) {
  return filter
}

async function localRunsLike({ scenario, limit }: RunsListFlags, { io }: CommandContext): Promise<LocalRun[]> {
  const runs = await listLocalRuns(io)
  return runs
    .filter((run) => scenario === undefined || run.scenario.replace(/@[^@]*$/, '') === scenario)
    .slice(0, limit ?? defaultPage)
}

/** Runs as a table; ages are relative to `nowMs`. */
export function runLines(runs: readonly Run[], terminal: Terminal, nowMs: number): string[] {
  // On narrow terminals the name of the scenario matters more.
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

/** `agentgym runs show`: a run with its learning curve, result, cost and events. */
export async function runsShow(text: string, context: CommandContext): Promise<void> {
  const local = await findLocalRun(context.io, text)
  if (local !== null) return showLocalRun(local, context)
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const history = await readHistory(connection, run)
  context.printJson({ ...run, ...history })
  if (context.json) return
  const options = { verbose: context.verbose, nowMs: Date.now() }
  for (const line of runReport(run, history, context.terminal, options)) context.print(line)
  context.print(nextLine(run, context.terminal))
}

async function showLocalRun(run: LocalRun, context: CommandContext): Promise<void> {
  const curve = returnCurve(await readLocalCurve(context.io, run.id))
  context.printJson({ ...run, curve })
  if (context.json) return
  const { terminal, print } = context
  for (const line of localRunReport(run, curve, terminal, { ...context, nowMs: Date.now() })) print(line)
  if (run.state !== 'completed') return
  const folder = shellQuote(context.displayPath(run.agent))
  print(`${terminal.symbols.next} Evaluate it: ${terminal.paint.accent(`agentgym eval ${folder}`)}`)
}

/** `agentgym runs compare`: runs of this machine and of the server side by side. */
export async function runsCompare(texts: string[], flags: { svg?: string }, context: CommandContext): Promise<void> {
  const runs = new Map<string, ComparedRun>()
  for (const text of texts) {
    const run = await comparedRun(text, context)
    runs.set(run.id, run)
  }
  if (runs.size < 2) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'a comparison needs at least two runs',
      hint: 'Name two or more runs from agentgym runs list.',
    })
  }
  const compared = [...runs.values()]
  const groups = groupBySettings(compared)
  if (flags.svg !== undefined) await writeCurves(groups, context.resolve(flags.svg), context)
  context.printJson({
    runs: compared,
    experiments: groups.map(({ runs, returns }) => ({ runs: runs.map(({ id }) => id), returns })),
  })
  for (const line of comparisonLines(compared, context.terminal)) context.print(line)
  if (flags.svg !== undefined) {
    const { paint, symbols } = context.terminal
    const shown = safeText(context.displayPath(context.resolve(flags.svg)))
    context.print(`${paint.accent(symbols.ok)} Drew the learning curves in ${paint.bold(shown)}`)
  }
}

async function comparedRun(text: string, context: CommandContext): Promise<ComparedRun> {
  const local = await findLocalRun(context.io, text)
  if (local !== null) return { ...local, curve: returnCurve(await readLocalCurve(context.io, local.id)) }
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const { curve } = await readHistory(connection, run)
  return {
    ...run,
    scenario: `${run.scenario.name}@${run.scenario.version}`,
    steps: run.progress?.steps ?? 0,
    seconds: run.progress?.seconds ?? 0,
    curve,
  }
}

/** `agentgym runs remove`: removes records of runs on this machine. */
export async function runsRemove(texts: string[], context: CommandContext): Promise<void> {
  const { paint, symbols } = context.terminal
  const removed: string[] = []
  for (const text of texts) {
    const run = await findLocalRun(context.io, text)
    if (run === null || run.state === 'running') {
      const id = JSON.stringify(text.slice(0, 100))
      throw new AgentGymError({
        code: run === null ? 'run_not_found' : 'usage_invalid',
        message: run === null ? `no run of this machine starts with ${id}` : `run ${id} is still training`,
        hint: run === null ? 'List them with agentgym runs list --local.' : 'Stop it first, with Ctrl-C where it runs.',
      })
    }
    await removeLocalRun(context.io, run.id)
    removed.push(run.id)
    context.print(`${paint.accent(symbols.ok)} Removed the record of run ${paint.bold(shortId(run.id))}`)
  }
  context.printJson({ ok: true, removed })
}

function nextLine(run: Run, { paint, symbols }: Terminal): string {
  const id = shortId(run.id)
  const next: Record<Run['state'], [string, string]> = {
    queued: ['Watch', `agentgym runs watch ${id}`],
    running: ['Watch', `agentgym runs watch ${id}`],
    completed: ['Download the agent', `agentgym runs download ${id}`],
    budget_exceeded: ['Resume with a higher budget', `agentgym runs resume ${id} --budget AMOUNT`],
    paused: ['Resume', `agentgym runs resume ${id}`],
    failed: ['Other runs', 'agentgym runs list'],
    cancelled: ['Other runs', 'agentgym runs list'],
  }
  const [what, command] = next[run.state]
  return `${symbols.next} ${what}: ${paint.accent(command)}`
}

/** `agentgym runs watch`: follows a run to its end. Writes no files; `runs download` does. */
export async function runsWatch(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  await watchRunHere(connection, run, { out: null, force: false }, context)
}

/** `agentgym runs cancel`: cancels a run; a running one saves a checkpoint first. */
export async function runsCancel(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await cancelRun(connection, (await findRun(connection, text)).id)
  context.printJson(run)
  const { paint, symbols } = context.terminal
  const id = shortId(run.id)
  if (hasEnded(run)) {
    context.print(`${paint.accent(symbols.ok)} Canceled run ${paint.bold(id)}`)
    return
  }
  context.print(`${paint.accent(symbols.ok)} Canceling run ${paint.bold(id)}: its worker saves a checkpoint first`)
  context.print(`${symbols.next} Follow it: ${paint.accent(`agentgym runs watch ${id}`)}`)
}

/** `agentgym runs pause`: pauses a run; a running one saves a checkpoint first. */
export async function runsPause(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await pauseRun(connection, (await findRun(connection, text)).id)
  context.printJson(run)
  const { paint, symbols } = context.terminal
  const id = shortId(run.id)
  context.print(
    hasEnded(run)
      ? `${paint.accent(symbols.ok)} Paused run ${paint.bold(id)}`
      : `${symbols.next} Run ${paint.bold(id)} pauses once its worker has saved a checkpoint`,
  )
  context.print(`${symbols.next} Resume it: ${paint.accent(`agentgym runs resume ${id}`)}`)
}

/** `agentgym runs resume`: resumes a run that is paused or used up its budget, from its last checkpoint. */
export async function runsResume(text: string, flags: { budget?: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await findRun(connection, text)
  const given = flags.budget === undefined ? undefined : readAmount(flags.budget, found.cost.currency, budgetOption)
  const run = await resumeRun(connection, found.id, { budget_minor: given })
  context.printJson(run)
  const { symbols } = context.terminal
  const { currency, spent_minor: spent, budget_minor: budget } = run.cost
  const limit = budget === null ? 'without a budget limit' : `with a budget of ${formatAmount(budget, currency)}`
  context.print(`${symbols.next} Resumed ${limit}, ${formatAmount(spent, currency)} spent so far`)
  for (const line of howToFollow(run, context)) context.print(line)
}

type RunsDownloadFlags = { out?: string; force?: boolean }

/** `agentgym runs download`: downloads the agent of a completed run, to the folder that local training would use. */
export async function runsDownload(text: string, flags: RunsDownloadFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const out = context.resolve(flags.out ?? join(agentsFolder, unscopedName(run.scenario.name)))
  const { movedTo } = await downloadAgent(connection, run, out, { force: flags.force ?? false, context })
  context.printJson({ ok: true, run: run.id, agent: out, integrity: run.agent?.integrity, moved_to: movedTo })
  const { paint, symbols } = context.terminal
  const folder = context.displayPath(out)
  if (movedTo !== null)
    context.print(`${symbols.next} Moved the existing agent to ${safeText(context.displayPath(movedTo))}`)
  context.print(`${paint.accent(symbols.ok)} Downloaded the agent to ${paint.bold(safeText(folder))}`)
  context.print(`${symbols.next} Evaluate it: ${paint.accent(`agentgym eval ${shellQuote(folder)}`)}`)
}

type RunsExportFlags = { csv?: boolean; jsonl?: boolean; tensorboard?: boolean; trajectories?: boolean; out?: string }

/** The exports: path below the run, and file name. TensorBoard looks for `tfevents` in the name. */
const formats = {
  csv: { path: 'metrics.csv', file: (id: string) => `run-${id}.csv` },
  jsonl: { path: 'metrics.jsonl', file: (id: string) => `run-${id}.jsonl` },
  tensorboard: { path: 'metrics.tfevents', file: (id: string) => `run-${id}.tfevents` },
  trajectories: { path: 'trajectories', file: (id: string) => `run-${id}-trajectories.ndjson` },
} as const
type Format = keyof typeof formats

/** `agentgym runs export`: exports a run's learning curve or sampled trajectories; `--out -` writes to stdout. */
export async function runsExport(text: string, flags: RunsExportFlags, context: CommandContext): Promise<void> {
  const format = formatOf(flags)
  const local = await findLocalRun(context.io, text)
  if (local !== null) return exportLocalRun(local, format, flags.out, context)
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const { path, file } = formats[format]
  const fetch = () => explained(connection, () => clientOf(connection).send(`${runPath(run.id)}/${path}`))
  const about = { run: run.id, format }
  const bytes = await exportTo(flags.out ?? file(shortId(run.id)), { option: '--out', fetch, about }, context)
  if (format === 'trajectories' && bytes === 0) {
    const { symbols } = context.terminal
    context.print(`${symbols.warning} No trajectories: the run was started without --trajectories N`)
  }
}

async function exportLocalRun(
  run: LocalRun,
  format: Format,
  out: string | undefined,
  context: CommandContext,
): Promise<void> {
  if (format === 'trajectories') {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'runs on this machine sample no trajectories',
      hint: 'Train with --remote --trajectories N, or export the curve with --csv, --jsonl or --tensorboard.',
    })
  }
  const points = await readLocalCurve(context.io, run.id)
  const { metricsCsv, metricsJsonLines, tensorboardEvents } = await import('@agentgym/registry/curves')
  const names = [...new Set(points.flatMap(({ metrics }) => Object.keys(metrics)))].sort()
  const content = {
    csv: () => metricsCsv(points, names),
    jsonl: () => metricsJsonLines(points),
    tensorboard: () => tensorboardEvents(points, new Date(run.started_at)),
  }[format]
  const fetch = async () => {
    const pieces: Uint8Array[] = []
    for await (const piece of content()) pieces.push(Buffer.from(piece))
    return new Response(Buffer.concat(pieces))
  }
  const file = formats[format].file(shortId(run.id))
  await exportTo(out ?? file, { option: '--out', fetch, about: { run: run.id, format } }, context)
}

function formatOf(flags: RunsExportFlags): Format {
  const chosen = (Object.keys(formats) as Format[]).filter((format) => flags[format])
  if (chosen.length <= 1) return chosen[0] ?? 'csv'
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${chosen.map((format) => `--${format}`).join(' and ')} cannot be combined`,
    hint: 'Run the command once for each format.',
  })
}
