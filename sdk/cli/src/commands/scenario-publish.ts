import { AgentGymError, type CheckReport, type VersionDetails } from '@agentgym/contract'
import { createLogUpdate } from 'log-update'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { type PackedScenario, packScenario } from '../packages/pack-scenario.ts'
import { type Upload, uploadScenario, waitForChecks } from '../packages/publish-scenario.ts'
import { resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { displayPath } from '../terminal/display-path.ts'
import { formatBytes, formatDuration } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { renderTable } from '../terminal/table.ts'
import { transferProgress } from '../terminal/transfer-progress.ts'

export type PublishFlags = {
  tag?: string
  dryRun?: boolean
  private?: boolean
  /** False with --no-wait. */
  wait?: boolean
}

/** `agentgym scenario publish`: checks, bundles, packs, uploads, and waits for the server's own checks. */
export async function scenarioPublish(target: string, flags: PublishFlags, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target)
  const connection = await findConnection()
  // Known before the checks have cost their time.
  if (!flags.dryRun) await account(connection)
  const checks = await checkHere(folder, context)
  if (!checks.ok) return refuseFailing(checks, folder, context)

  const runtime = await context.runtime()
  const packed = await packScenario(await runtime.buildScenario(folder))
  if (flags.dryRun) return sayDryRun(packed, connection, flags, context)

  const label = safeText(`${packed.name}@${packed.version}`, 240)
  const { paint, symbols } = context.terminal
  context.say(`${symbols.next} Upload ${paint.bold(label)} to ${connection.server} (${packedText(packed)})`)
  const progress = transferProgress('uploaded', context)
  let upload: Upload
  try {
    upload = await uploadScenario(connection, packed, { ...flags, onProgress: progress.update })
  } finally {
    progress.close()
  }
  context.say(`${paint.accent(symbols.ok)} ${upload.decided ? 'Had been uploaded before' : 'Uploaded'}`)
  if (flags.wait === false) return sayUploaded(packed, upload, context)
  const answer = await waitHere(connection, packed, upload, context)
  sayOutcome(packed, answer, upload, context)
}

async function checkHere(folder: string, context: CommandContext): Promise<CheckReport> {
  const runtime = await context.runtime()
  context.say(`${context.terminal.symbols.next} Check the scenario in ${safeText(displayPath(folder))}`)
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
  const command = `agentgym scenario check ${shellQuote(displayPath(folder))}`
  context.say(`${symbols.next} Mend what is marked ${symbols.failed} and check again: ${paint.accent(command)}`)
  process.exitCode = 1
}

function packedText({ bytes, files, unpackedBytes }: PackedScenario): string {
  return `${formatBytes(bytes.length)}, ${files.length} files, ${formatBytes(unpackedBytes)} unpacked`
}

function sayDryRun(packed: PackedScenario, { server }: Connection, flags: PublishFlags, context: CommandContext): void {
  const { name, version, integrity, files, unpackedBytes, bundledDependencies } = packed
  const visibility = flags.private ? 'private' : 'public'
  context.sayJson({
    dry_run: true,
    name,
    version,
    tag: flags.tag ?? null,
    visibility,
    server,
    integrity,
    bytes: packed.bytes.length,
    unpacked_bytes: unpackedBytes,
    bundled_dependencies: bundledDependencies,
    files,
  })
  const { terminal } = context
  const { paint, symbols } = terminal
  context.say(`${paint.bold(safeText(`${name}@${version}`, 240))} would go to ${server}, ${visibility}`)
  const rows = files.map((file) => [safeText(file.path, 240), formatBytes(file.bytes)])
  const columns = [
    { title: 'File', shrink: true },
    { title: 'Size', align: 'right' as const },
  ]
  for (const line of renderTable(columns, rows, terminal)) context.say(`  ${line}`)
  context.say(`  ${paint.dim('tarball')} ${packedText(packed)}`)
  context.say(`  ${paint.dim('integrity')} ${integrity}`)
  if (bundledDependencies.length > 0) {
    const names = safeText(bundledDependencies.join(', '), 300)
    context.say(`  ${paint.dim('left out of package.json, for the bundle holds it:')} ${names}`)
  }
  context.say(`${symbols.next} Nothing was uploaded. Without --dry-run it is.`)
}

function sayUploaded(packed: PackedScenario, { url }: Upload, context: CommandContext): void {
  const { name, version, integrity } = packed
  context.sayJson({ name, version, state: 'checking', url, integrity })
  const { paint, symbols } = context.terminal
  const command = `agentgym info ${shellQuote(`${name}@${version}`)}`
  context.say(`${symbols.next} The server checks it now: ${paint.accent(command)} tells how it went.`)
}

async function waitHere(
  connection: Connection,
  packed: PackedScenario,
  upload: Upload,
  context: CommandContext,
): Promise<VersionDetails> {
  const { terminal, json, stdout } = context
  const draw = !json && terminal.live ? createLogUpdate(stdout) : undefined
  if (!draw) context.say(`${terminal.symbols.next} The server checks it in its own sandbox`)
  const interrupt = cancelOnInterrupt(() => {})
  try {
    return await waitForChecks(connection, packed, {
      signal: interrupt.signal,
      onWait: (seconds) => draw?.(terminal.paint.dim(`  The server checks it, ${formatDuration(seconds)}`)),
    })
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    throw new AgentGymError({
      code: 'version_not_published',
      message: `${packed.name}@${packed.version} is uploaded and still being checked`,
      hint: `The server goes on by itself: agentgym info ${packed.name}@${packed.version} tells how it went.`,
      data: { name: packed.name, version: packed.version, state: 'checking', url: upload.url },
    })
  } finally {
    interrupt.release()
    draw?.clear()
    draw?.done()
  }
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
  process.exitCode = 1
}
