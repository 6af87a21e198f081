import { stat } from 'node:fs/promises'
import {
  type CheckReport,
  checksFailedText,
  countChecks,
  type ScenarioLogs,
  type VersionDetails,
} from '@agentgym/contract'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { type PackedScenario, packScenario } from '../packages/pack-scenario.ts'
import { awaitChecks, printDryRun, type Upload, uploadWithProgress } from '../packages/publish-package.ts'
import { resolveScenarioFolder } from '../targets/scenarios.ts'
import { formatBytes } from '../terminal/format-values.ts'
import { logLines } from '../terminal/log-lines.ts'
import { checkLines } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'
import { addScenarioDiff } from './scenario-diff.ts'
import { addScenarioDoctor } from './scenario-doctor.ts'
import { addScenarioFromTools } from './scenario-from-tools.ts'
import { addScenarioFromTraces } from './scenario-from-traces.ts'
import { addScenarioInit } from './scenario-init.ts'
import { addScenarioProfile } from './scenario-profile.ts'
import { addScenarioTest } from './scenario-test.ts'

/** `agentgym scenario …`: from an empty folder to a published scenario. */
export function addScenarioCommands(program: Command, action: MakeAction): void {
  const scenario = program
    .command('scenario')
    .usage('COMMAND [options]')
    .description('create, check, build and publish scenarios')
  addScenarioInit(scenario, action)
  addScenarioFromTools(scenario, action)
  addScenarioFromTraces(scenario, action)
  scenario
    .command('check')
    .argument('[DIR]', folderArgument, '.')
    .description('run all checks in the sandbox; exits with 1 if any fails')
    .action(action(scenarioCheck))
  addScenarioTest(scenario, action)
  addScenarioDoctor(scenario, action)
  addScenarioDiff(scenario, action)
  addScenarioProfile(scenario, action)
  scenario
    .command('build')
    .argument('[DIR]', folderArgument, '.')
    .description('bundle the scenario into dist/scenario.js and print its hash')
    .action(action(scenarioBuild))
  scenario
    .command('publish')
    .argument('[DIR]', folderArgument, '.')
    .description('check, bundle and publish a scenario to the registry')
    .option('--tag <TAG>', 'distribution tag (default: latest, for the newest release)')
    .option('--private', 'visible to members of the account only (new packages)')
    .option('--dry-run', 'show what would be uploaded, without uploading')
    .option('--no-wait', "don't wait for the server's checks")
    .action(action(scenarioPublish))
}

const folderArgument = 'scenario folder or built-in name'

/** `agentgym scenario check`: every check as it finishes; exit 1 when one failed. */
export async function scenarioCheck(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  context.print(`${context.terminal.symbols.next} Checking the scenario in ${safeText(context.displayPath(folder))}`)
  const report = await runtime.checkScenario(folder, {
    types: true,
    onCheck: (check) => {
      for (const line of checkLines(check, context.terminal)) context.print(line)
    },
    onLogs: (logs) => printLogs(logs, context),
  })
  context.printJson(report)
  for (const line of summaryLines(report, shellQuote(context.displayPath(folder)), context.terminal))
    context.print(line)
  if (!report.ok) context.exitCode = 1
}

function summaryLines(report: CheckReport, path: string, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const name = paint.bold(safeText(`${report.name}@${report.version}`, 240))
  if (report.ok) {
    const { warnings } = countChecks(report.checks)
    const warned = warnings === 0 ? '' : `, ${warnings} with a warning`
    return [
      `${paint.accent(symbols.ok)} ${name}: all ${report.checks.length} checks passed${warned}`,
      `${symbols.next} Train on it: ${paint.accent(`agentgym train ${path}`)}`,
    ]
  }
  return [
    `${paint.fail(symbols.failed)} ${name}: ${checksFailedText(report.checks)}`,
    `${symbols.next} Fix the failed checks and run them again: ${paint.accent(`agentgym scenario check ${path}`)}`,
  ]
}

/** `agentgym scenario build`: bundles the entry into dist/scenario.js and prints its path, size and hash. */
export async function scenarioBuild(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  const build = await runtime.writeBuild(folder)
  const { name, version } = build.package
  const { size } = await stat(build.path)
  context.printJson({ name, version, path: build.path, bytes: size, hash: build.hash })
  const { paint, symbols } = context.terminal
  context.print(
    `${paint.accent(symbols.ok)} Built ${paint.bold(safeText(`${name}@${version}`, 240))}: ${safeText(context.displayPath(build.path))} (${formatBytes(size)})`,
  )
  context.print(`  ${paint.dim('SHA-256')} ${build.hash}`)
  context.print(
    `${symbols.next} Check it: ${paint.accent(`agentgym scenario check ${shellQuote(context.displayPath(folder))}`)}`,
  )
}

type PublishFlags = {
  tag?: string
  dryRun?: boolean
  private?: boolean
  /** False with --no-wait. */
  wait?: boolean
}

/** `agentgym scenario publish`: checks, bundles, packs, uploads, and waits for the server's own checks. */
export async function scenarioPublish(target: string, flags: PublishFlags, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const connection = await findConnection(context)
  // Fail before the checks, which take a while.
  if (!flags.dryRun) await account(connection)
  const checks = await checkHere(folder, context)
  if (!checks.ok) return refuseFailing(checks, folder, context)

  const runtime = await context.runtime()
  const packed = await packScenario(await runtime.buildScenario(folder))
  if (flags.dryRun) return printDryRun(packed, leftOut(packed, context), connection, flags, context)
  const upload = await uploadWithProgress(packed, connection, flags, context)
  if (flags.wait === false) return printUploaded(packed, upload, context)
  const answer = await awaitChecks(connection, packed, upload, context)
  printOutcome(packed, answer, upload, context)
}

function leftOut({ bundledDependencies }: PackedScenario, { terminal }: CommandContext) {
  const names = safeText(bundledDependencies.join(', '), 300)
  const line = `${terminal.paint.dim('removed from package.json, included in the bundle:')} ${names}`
  return {
    json: { bundled_dependencies: bundledDependencies },
    lines: bundledDependencies.length > 0 ? [line] : [],
  }
}

/** What the scenario logs during the first checks. */
function printLogs(logs: ScenarioLogs, context: CommandContext): void {
  for (const line of logLines(logs, context.terminal, context.verbose ? 100 : 20)) context.print(line)
}

async function checkHere(folder: string, context: CommandContext): Promise<CheckReport> {
  const runtime = await context.runtime()
  await warnOfMissingWalls(context)
  context.print(`${context.terminal.symbols.next} Checking the scenario in ${safeText(context.displayPath(folder))}`)
  return runtime.checkScenario(folder, {
    types: true,
    onCheck: (check) => {
      if (check.ok && !context.verbose) return
      for (const line of checkLines(check, context.terminal)) context.print(line)
    },
  })
}

function refuseFailing(report: CheckReport, folder: string, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  context.printJson({ ...report, state: 'not_uploaded' })
  context.print(`${paint.fail(symbols.failed)} Not uploaded: ${checksFailedText(report.checks)}`)
  const command = `agentgym scenario check ${shellQuote(context.displayPath(folder))}`
  context.print(`${symbols.next} Fix the failed checks and run them again: ${paint.accent(command)}`)
  context.exitCode = 1
}

function printUploaded(packed: PackedScenario, { url, integrity }: Upload, context: CommandContext): void {
  const { name, version } = packed
  context.printJson({ name, version, state: 'checking', url, integrity })
  const { paint, symbols } = context.terminal
  const command = `agentgym info ${shellQuote(`${name}@${version}`)}`
  context.print(`${symbols.next} Being checked by the server. Show the result: ${paint.accent(command)}`)
}

function printOutcome(packed: PackedScenario, answer: VersionDetails, upload: Upload, context: CommandContext): void {
  const { name, version } = packed
  const ok = answer.state === 'published'
  const { checks } = answer
  context.printJson({ ok, name, version, state: answer.state, url: upload.url, integrity: upload.integrity, checks })
  const { terminal } = context
  const { paint, symbols } = terminal
  for (const check of checks) for (const line of checkLines(check, terminal)) context.print(line)
  const label = paint.bold(safeText(`${name}@${version}`, 240))
  if (ok) {
    context.print(`${paint.accent(symbols.ok)} Published ${label}: ${safeText(upload.url)}`)
    context.print(`${symbols.next} Train on it: ${paint.accent(`agentgym train ${shellQuote(name)}`)}`)
    return
  }
  context.print(`${paint.fail(symbols.failed)} The server rejected ${label}: ${checksFailedText(checks)}`)
  context.print(
    `${symbols.next} Fix the failed checks and publish again under a new version; ${safeText(version)} cannot be reused.`,
  )
  context.exitCode = 1
}
