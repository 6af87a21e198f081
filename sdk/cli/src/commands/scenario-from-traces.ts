import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import { type Command, Option } from 'commander'
import { getCountries, isSupportedCountry } from 'libphonenumber-js/min'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { collect } from '../option-values.ts'
import {
  library,
  type NewFolderFlags,
  nameFolder,
  nameFromFolder,
  refuseConflicts,
  writeLibrary,
  writeScenarioFiles,
} from '../packages/scenario-folder.ts'
import { requireFile } from '../targets/files.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { formatCount } from '../terminal/format-values.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { assembleEpisodes, noCounts } from '../traces/assemble-episodes.ts'
import { jsonValuesOf } from '../traces/json-values.ts'
import { PersonalData } from '../traces/personal-data.ts'
import { LogCollector, type LogSummary } from '../traces/summarize-log.ts'
import { type TraceReport, traceScenarioFiles } from '../traces/write-trace-scenario.ts'

export function addScenarioFromTraces(scenario: Command, action: MakeAction): void {
  scenario
    .command('from-traces')
    .argument(
      '<FILE...>',
      'OpenAI-style messages, OpenTelemetry GenAI spans, LangSmith runs or Langfuse exports, as JSON or JSON Lines',
    )
    .description("create a scenario from an agent's logged traces; secrets and personal data are masked")
    .option('--out <DIR>', 'folder to create; existing files are never overwritten (default: from the name of FILE)')
    .option('--name <NAME>', 'npm package name (default: the name of the folder)')
    .option('--title <TITLE>', 'display title (default: derived from the name)')
    .option(
      '--outcome <NAME>',
      'score, feedback or field that says whether a request was solved (default: the usual names)',
    )
    .addOption(
      new Option('--solved-at <NUMBER>', 'least outcome of a solved request').argParser(readNumber).default(0.5),
    )
    .option(
      '--mask-field <NAME>',
      'field whose values are masked, beside names, addresses and secrets (repeatable)',
      collect,
    )
    .option('--country <CODE>', 'country of phone numbers without a country code, such as US', readCountry)
    .action(action(scenarioFromTraces))
}

type FromTracesFlags = NewFolderFlags & {
  outcome?: string
  solvedAt: number
  maskField?: string[]
  country?: ReturnType<typeof readCountry>
}

/** Fewer requests are no basis for training and a held-out split. */
const LEAST_REQUESTS = 20

/** `agentgym scenario from-traces`: a scenario whose requests, costs and results are those of a log. */
async function scenarioFromTraces(files: string[], flags: FromTracesFlags, context: CommandContext): Promise<void> {
  const suggested = nameFromFolder(basename(files[0]).replace(/(\.\w+)+$/, ''))
  const { folder, name, title } = nameFolder(`${suggested || 'traces'}-scenario`, flags, context)
  const template = { template: templateFolder, files: fromTemplate }
  await refuseConflicts(folder, ['package.json', 'README.md', 'src/log.json', ...fromTemplate], context)
  context.print(`${context.terminal.symbols.next} Reading ${safeText(files.join(', '), 300)}`)
  const { summary, report } = await readLog(files, flags, context)
  const written = traceScenarioFiles(summary, report, { name, title, unscoped: unscopedName(name) })
  const paths = await writeScenarioFiles(folder, written, template)
  await writeLibrary(folder, context)
  printReport({ summary, report, folder, name, files: [...paths, library] }, context)
}

const templateFolder = fileURLToPath(new URL('../../templates/from-traces', import.meta.url))
const fromTemplate = [
  'tsconfig.json',
  '.gitignore',
  'src/index.ts',
  'src/log.ts',
  'src/observe.ts',
  'src/unmask.ts',
  'src/index.test.ts',
]

async function readLog(
  files: readonly string[],
  { outcome: named, solvedAt, maskField, country }: FromTracesFlags,
  context: CommandContext,
): Promise<{ summary: LogSummary; report: TraceReport }> {
  const mask = new PersonalData({ fields: maskField, country })
  const counts = noCounts()
  const collector = new LogCollector(mask)
  const paths = await Promise.all(files.map((file) => requireFile(file, context)))
  for await (const episode of assembleEpisodes(jsonValuesOf(paths), counts)) collector.add(episode)
  const outcome = collector.outcomeName(named)
  if (named !== undefined && outcome === null) throw unknownOutcome(named, collector.outcomeCounts())
  const summary = collector.summary(outcome, solvedAt)
  const { episodes, followUps, withoutCalls, estimatedTokens } = collector
  const outcomes = collector.outcomeCounts()
  const report = { counts, episodes, followUps, withoutCalls, estimatedTokens, outcome, outcomes, masked: mask.report }
  refuseTooLittle(summary, report)
  return { summary, report }
}

function unknownOutcome(named: string, found: Record<string, number>): AgentGymError {
  const names = Object.entries(found).map(([name, count]) => `${name} (${formatCount(count)})`)
  return new AgentGymError({
    code: 'traces_invalid',
    message: `The log has no outcome "${named}"`,
    hint: names.length === 0 ? 'It has no outcomes: omit --outcome.' : `It has: ${names.join(', ')}.`,
    data: { field: 'outcome', found },
  })
}

function refuseTooLittle({ requests }: LogSummary, { counts, episodes, outcome, withoutCalls }: TraceReport): void {
  const heldOut = requests.filter(({ heldOut }) => heldOut).length
  if (requests.length >= LEAST_REQUESTS && heldOut > 0 && heldOut < requests.length) return
  const found = [
    `${formatCount(counts.values)} values, ${formatCount(counts.unknown)} of no known format`,
    `${formatCount(episodes)} episodes, ${formatCount(withoutCalls)} without calls of tools`,
    `${formatCount(requests.length)} different requests${outcome === null ? '' : ` that were solved by "${outcome}"`}`,
  ]
  throw new AgentGymError({
    code: 'traces_invalid',
    message: `A scenario needs at least ${LEAST_REQUESTS} different requests with calls of tools. Found: ${found.join('; ')}`,
    hint: 'Give more traces, or another format: docs/bring-your-agent.md lists what is read.',
    data: { ...counts, episodes, requests: requests.length },
  })
}

type Created = { summary: LogSummary; report: TraceReport; folder: string; name: string; files: string[] }

function printReport({ summary, report, folder, name, files }: Created, context: CommandContext): void {
  const { tools, requests, logged } = summary
  const heldOut = requests.filter(({ heldOut }) => heldOut).length
  context.printJson({
    name,
    folder,
    files,
    logged,
    requests: requests.length,
    held_out: heldOut,
    ...jsonReport(report),
  })
  const { paint, symbols } = context.terminal
  const path = context.displayPath(folder)
  const print = (label: string, text: string) => context.print(`  ${paint.dim(label.padEnd(10))}${safeText(text, 500)}`)
  context.print(`${paint.accent(symbols.ok)} Created ${paint.bold(safeText(name))} in ${safeText(path)}`)
  const formats = Object.entries(report.counts.formats).map(([format, count]) => `${formatCount(count)} ${format}`)
  const unknown = report.counts.unknown > 0 ? `; ${formatCount(report.counts.unknown)} values of no known format` : ''
  print('traces', `${formats.join(', ')}${unknown}`)
  print('tools', tools.map((tool) => `${tool.name} (${formatCount(tool.calls)})`).join(', '))
  print('requests', `${formatCount(requests.length)}, of which ${formatCount(heldOut)} are held out`)
  const solved = logged.solved === null ? 'outcome not logged' : `solved ${(100 * logged.solved).toFixed(1)}%`
  const estimated = report.estimatedTokens > 0 ? ' (estimated)' : ''
  print(
    'to beat',
    `${solved}, ${short(logged.calls)} calls, ${short(logged.tokens)} tokens${estimated}, ${short(logged.seconds)} s a request`,
  )
  const others = Object.entries(report.outcomes).map(([name, count]) => `${name} (${formatCount(count)})`)
  if (report.outcome !== null) print('outcome', report.outcome)
  else if (others.length > 0) print('outcome', `none used. Name one with --outcome: ${others.join(', ')}`)
  if (report.followUps > 0)
    print(
      'note',
      `${formatCount(report.followUps)} conversations go on after the first message, which alone is the request`,
    )
  const masked = Object.entries(report.masked).filter(([, count]) => count > 0)
  print(
    'masked',
    masked.length === 0 ? 'nothing found' : masked.map(([kind, count]) => `${formatCount(count)} ${kind}`).join(', '),
  )
  context.print(
    `${symbols.warning} Rules do not find everything: read ${safeText(path)}/src/log.json before you share it.`,
  )
  context.print(`${symbols.next} Check it: ${paint.accent(`agentgym scenario check ${shellQuote(path)}`)}`)
  context.print(`${symbols.next} Train it: ${paint.accent(`agentgym train ${shellQuote(path)}`)}`)
}

function short(value: number): string {
  return value >= 100 ? formatCount(Math.round(value)) : String(Number(value.toPrecision(3)))
}

function jsonReport({ counts, ...report }: TraceReport) {
  return {
    values: counts.values,
    unknown: counts.unknown,
    formats: counts.formats,
    without_request: counts.withoutRequest,
    episodes: report.episodes,
    without_calls: report.withoutCalls,
    follow_ups: report.followUps,
    estimated_tokens: report.estimatedTokens,
    outcome: report.outcome,
    outcomes: report.outcomes,
    masked: report.masked,
  }
}

function readNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isFinite(value)) return value
  throw invalidOption('solved-at', text, 'a number', '--solved-at 4')
}

function readCountry(text: string) {
  const code = text.toUpperCase()
  if (isSupportedCountry(code)) return code
  throw invalidOption('country', text, `one of the ${getCountries().length} country codes`, '--country US')
}

function invalidOption(field: string, text: string, meaning: string, example: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `--${field} is ${JSON.stringify(text.slice(0, 100))}, which is not ${meaning}`,
    hint: `Give ${meaning}, such as ${example}.`,
    data: { field },
  })
}
