import { existsSync } from 'node:fs'
import { AgentGymError, type VersionDetails } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { scenarioOptionText } from '../option-values.ts'
import { type AgentFiles, packAgent, readAgentFiles } from '../packages/pack-agent.ts'
import { type PackedPackage, sayDryRun, type Upload, uploadHere, waitHere } from '../packages/publish-package.ts'
import { looksLikeId } from '../registry/find-by-id.ts'
import { parsePackageTarget } from '../registry/package-target.ts'
import { fetchAgent } from '../runs/download-agent.ts'
import { findRun } from '../runs/run-api.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { checkLines, fieldLines } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { verificationLines } from '../verification/server-verification.ts'
import { type VerificationReport, verifyFolder, verifyPublished } from '../verification/verify-agent.ts'
import { install } from './install.ts'

export function addAgentCommands(program: Command, action: MakeAction): void {
  const agent = program
    .command('agent')
    .usage('COMMAND [options]')
    .description('publish, verify and install trained agents')
  agent
    .command('publish')
    .argument('<AGENT>', 'agent folder, name in ./agents, or run ID')
    .description('publish an agent; the server re-runs its evaluation and signs the result')
    .option('--name <NAME>', '@scope/name (default: from package.json, in the scope of your account)')
    .option('--version <VERSION>', 'version (default: from package.json)')
    .option('--tag <TAG>', 'distribution tag (default: latest, for the newest release)')
    .option('--private', 'visible to members of the account only (new packages)')
    .option('--dry-run', 'show what would be uploaded, without uploading')
    .option('--wait', 'wait for the verification (the default)')
    .option('--no-wait', "don't wait for the verification")
    .action(action(agentPublish))
  agent
    .command('verify')
    .argument('<AGENT>', '@scope/name[@range] or agent folder')
    .description("check an agent's signature and re-run its evaluations on this machine")
    .option('--scenario <DIR>', scenarioOptionText)
    .action(action(agentVerify))
  agent
    .command('install')
    .argument('<NAME...>', '@scope/name[@range, tag or version]')
    .description('install agents, like agentgym install')
    .action(action(install))
}

type AgentPublishFlags = {
  name?: string
  version?: string
  tag?: string
  private?: boolean
  dryRun?: boolean
  /** False with --no-wait. */
  wait?: boolean
}

/**
 * `agentgym agent publish`: an agent's folder or the agent of a run as a package. The server looks the model over before
 * it takes it; a worker plays it in the sandbox, and the server signs what came out where it is what agent.json claims.
 */
export async function agentPublish(target: string, flags: AgentPublishFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const files = await agentFiles(target, connection, context)
  const identity = { name: flags.name, version: flags.version }
  const packed = await packAgent(files, { ...identity, account: (await account(connection)).username })
  if (flags.dryRun) return sayDryRun(packed, { json: {}, lines: [] }, connection, flags, context)

  const upload = await uploadHere(packed, connection, flags, context).catch((error) => {
    throw explainTaken(error, packed, target)
  })
  if (flags.wait === false) return sayUploaded(packed, upload, context)
  const answer = await waitHere(connection, packed, upload, context)
  sayOutcome(packed, { answer, upload }, context)
}

/** A folder, or the name of one in ./agents; else a run of the user's. */
async function agentFiles(target: string, connection: Connection, context: CommandContext): Promise<AgentFiles> {
  try {
    const folder = await resolveAgentFolder(target, context)
    const { readAgent } = await context.runtime()
    await readAgent(folder)
    return await readAgentFiles(folder)
  } catch (error) {
    const noFolder = error instanceof AgentGymError && error.code === 'file_not_found'
    if (!noFolder || !looksLikeId(target)) throw error
  }
  return fetchAgent(connection, await findRun(connection, target), context)
}

/** Training calls every agent 0.1.0: the number is the user's to raise. */
function explainTaken(error: unknown, { name }: PackedPackage, target: string): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'version_exists') return error
  const { code, message, data } = error
  const command = `agentgym agent publish ${shellQuote(target)} --version X.Y.Z`
  const hint = `Publish it under a version of its own: ${command}. agentgym versions ${shellQuote(name)} lists those that are spent.`
  return new AgentGymError({ code, message, hint, data }, { cause: error })
}

function sayUploaded({ name, version, integrity }: PackedPackage, { url }: Upload, context: CommandContext): void {
  context.sayJson({ name, version, state: 'checking', url, integrity, verification: null })
  const { paint, symbols } = context.terminal
  const command = `agentgym info ${shellQuote(`${name}@${version}`)}`
  context.say(`${symbols.next} A worker plays it now: ${paint.accent(command)} tells how it went.`)
}

type Outcome = { answer: VersionDetails; upload: Upload }

function sayOutcome(packed: PackedPackage, { answer, upload }: Outcome, context: CommandContext): void {
  const { name, version, integrity } = packed
  const { state, checks, verification } = answer
  const ok = state === 'published' && verification?.state !== 'mismatch' && verification?.state !== 'failed'
  context.sayJson({ ok, name, version, state, url: upload.url, integrity, checks, verification })
  if (!ok) context.exitCode = 1
  const { terminal } = context
  const { paint, symbols } = terminal
  for (const check of checks) for (const line of checkLines(check, terminal)) context.say(line)
  const label = `${name}@${version}`
  const shown = paint.bold(safeText(label, 240))
  if (state !== 'published') {
    const failed = checks.filter((check) => !check.ok).length
    context.say(`${paint.fail(symbols.failed)} The server rejected ${shown}: ${failed} of ${checks.length} checks fail`)
    context.say(`${symbols.next} Mend what is marked ${symbols.failed} and publish again under a higher --version.`)
    return
  }
  context.say(`${paint.accent(symbols.ok)} Published ${shown}: ${safeText(upload.url)}`)
  for (const line of verification === null ? [] : verificationLines(verification, terminal)) context.say(line)
  const [what, command] =
    verification?.state === 'verified' ? ['Anyone can run it again', 'agent verify'] : ['Look at it', 'info']
  context.say(`${symbols.next} ${what}: ${paint.accent(`agentgym ${command} ${shellQuote(label)}`)}`)
}

type AgentVerifyFlags = { scenario?: string }

/** `agentgym agent verify`: runs an agent's evaluations again, here, and says what held. */
export async function agentVerify(target: string, flags: AgentVerifyFlags, context: CommandContext): Promise<void> {
  const { terminal } = context
  const options = {
    ...flags,
    onCheck: (check: VerificationReport['checks'][number]) => {
      for (const line of checkLines(check, terminal)) context.say(line)
    },
  }
  // What carries a scope is a package of the registry, unless there is a folder of that very name.
  const published = existsSync(context.resolve(target)) ? undefined : parsePackageTarget(target)
  const report =
    published === undefined
      ? await verifyFolder(await resolveAgentFolder(target, context), options, context)
      : await verifyPublished(published, options, context)
  context.sayJson(report)
  if (!report.ok) context.exitCode = 1
  if (context.json) return
  for (const line of verdictLines(report, context)) context.say(line)
}

function verdictLines(report: VerificationReport, context: CommandContext): string[] {
  const { terminal, verbose } = context
  const { paint, symbols } = terminal
  const { name, version, folder } = report.agent
  const label = paint.bold(safeText(name === null ? context.displayPath(folder) : `${name}@${version}`, 240))
  const versions = verbose ? ['Run here with', ...fieldLines(Object.entries(report.runtime), terminal)] : []
  if (!report.ok) {
    const failed = report.checks.filter(({ ok }) => !ok).map(({ id }) => id.replace('_', ' '))
    return [
      ...versions,
      `${paint.fail(symbols.failed)} ${label} is not verified here: ${failed.join(', ')} did not hold`,
    ]
  }
  if (name === null) {
    const next = `${symbols.next} Nobody has signed it: ${paint.accent('agentgym agent publish')} has the server verify it.`
    return [...versions, `${paint.accent(symbols.ok)} ${label} does what agent.json claims`, next]
  }
  return [...versions, `${paint.accent(symbols.ok)} ${label} is verified: signed, and the same when run here`]
}
