import type { CheckReport, VersionDetails } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { type PackedScenario, packScenario } from '../packages/pack-scenario.ts'
import { sayDryRun, uploadHere, waitHere } from '../packages/publish-here.ts'
import type { Upload } from '../packages/upload-package.ts'
import { resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'

export type PublishFlags = {
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
  // Known before the checks have cost their time.
  if (!flags.dryRun) await account(connection)
  const checks = await checkHere(folder, context)
  if (!checks.ok) return refuseFailing(checks, folder, context)

  const runtime = await context.runtime()
  const packed = await packScenario(await runtime.buildScenario(folder))
  if (flags.dryRun) return sayDryRun(packed, leftOut(packed, context), connection, flags, context)
  const upload = await uploadHere(packed, connection, flags, context)
  if (flags.wait === false) return sayUploaded(packed, upload, context)
  const answer = await waitHere(connection, packed, upload, context)
  sayOutcome(packed, answer, upload, context)
}

function leftOut({ bundledDependencies }: PackedScenario, { terminal }: CommandContext) {
  const names = safeText(bundledDependencies.join(', '), 300)
  const line = `${terminal.paint.dim('left out of package.json, for the bundle holds it:')} ${names}`
  return {
    json: { bundled_dependencies: bundledDependencies },
    lines: bundledDependencies.length > 0 ? [line] : [],
  }
}

async function checkHere(folder: string, context: CommandContext): Promise<CheckReport> {
  const runtime = await context.runtime()
  context.say(`${context.terminal.symbols.next} Check the scenario in ${safeText(context.displayPath(folder))}`)
  return runtime.checkScenario(folder, {
    onCheck: (check) => {
      if (check.ok && !context.verbose) return
      for (const line of checkLines(check, context.terminal)) context.say(line)
    },
  })
}

function refuseFailing(report: CheckReport, folder: string, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  context.sayJson({ ...report, state: 'not_uploaded' })
  const failed = report.checks.filter((check) => !check.ok).length
  context.say(`${paint.fail(symbols.failed)} Nothing was uploaded: ${failed} of ${report.checks.length} checks fail`)
  const command = `agentgym scenario check ${shellQuote(context.displayPath(folder))}`
  context.say(`${symbols.next} Mend what is marked ${symbols.failed} and check again: ${paint.accent(command)}`)
  context.exitCode = 1
}

function sayUploaded(packed: PackedScenario, { url }: Upload, context: CommandContext): void {
  const { name, version, integrity } = packed
  context.sayJson({ name, version, state: 'checking', url, integrity })
  const { paint, symbols } = context.terminal
  const command = `agentgym info ${shellQuote(`${name}@${version}`)}`
  context.say(`${symbols.next} The server checks it now: ${paint.accent(command)} tells how it went.`)
}

function sayOutcome(packed: PackedScenario, answer: VersionDetails, upload: Upload, context: CommandContext): void {
  const { name, version, integrity } = packed
  const ok = answer.state === 'published'
  const { checks } = answer
  context.sayJson({ ok, name, version, state: answer.state, url: upload.url, integrity, checks })
  const { terminal } = context
  const { paint, symbols } = terminal
  for (const check of checks) for (const line of checkLines(check, terminal)) context.say(line)
  const label = paint.bold(safeText(`${name}@${version}`, 240))
  if (ok) {
    context.say(`${paint.accent(symbols.ok)} Published ${label}: ${safeText(upload.url)}`)
    context.say(`${symbols.next} Anyone can train on it: ${paint.accent(`agentgym train ${shellQuote(name)}`)}`)
    return
  }
  const failed = checks.filter((check) => !check.ok).length
  context.say(`${paint.fail(symbols.failed)} The server rejected ${label}: ${failed} of ${checks.length} checks fail`)
  context.say(
    `${symbols.next} Mend what is marked ${symbols.failed}, raise the version, for ${safeText(version)} is spent, and publish again.`,
  )
  context.exitCode = 1
}
