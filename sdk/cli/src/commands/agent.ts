import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { parsePackageTarget } from '@agentgym/agent/packages'
import { packagePath } from '@agentgym/client'
import { AgentGymError, checksFailedText, namingFile, packagePageSchema, type VersionDetails } from '@agentgym/contract'
import { type Command, Option } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { portRange, scenarioOptionText, wholeNumber } from '../option-values.ts'
import { type AgentFiles, packAgent, readAgentFiles } from '../packages/pack-agent.ts'
import {
  awaitChecks,
  type PackedPackage,
  printDryRun,
  type Upload,
  uploadWithProgress,
} from '../packages/publish-package.ts'
import { callApi } from '../registry/call-api.ts'
import { looksLikeId } from '../registry/find-by-id.ts'
import { fetchAgent } from '../runs/download-agent.ts'
import { findRun } from '../runs/run-api.ts'
import { obtainAgentFolder, resolveAgentFolder } from '../targets/agents.ts'
import { checkLines, fieldLines } from '../terminal/table.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { verificationLines } from '../verification/server-verification.ts'
import { type VerificationReport, verifyFolder, verifyPublished } from '../verification/verify-agent.ts'
import { agentExport } from './agent-export.ts'
import { agentMcp } from './agent-mcp.ts'
import { agentServe } from './agent-serve.ts'
import { addLanguageModelOptions } from './agent-serve-model.ts'
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
    .option('--summary <TEXT>', "one sentence for lists (default: from package.json, else the package's latest)")
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
    .command('export')
    .argument('<AGENT>', 'agent folder, name in ./agents, run ID, or @scope/name[@range], which is installed')
    .argument('<PATH>', 'file to write, or the folder (onnx)')
    .description('write an agent in another form: weights that a scenario can play, or a model for any ONNX runtime')
    .addOption(
      new Option(
        '--to <FORM>',
        'weights: JSON for frozenPolicy of @agentgym/scenario, such as an opponent; onnx: a folder for other runtimes',
      )
        .choices(['weights', 'onnx'])
        .default('weights'),
    )
    .action(action(agentExport))
  const serve = agent
    .command('serve')
    .argument('<AGENT...>', 'agent folder, name in ./agents, run ID or @scope/name[@range]')
    .description(
      'serve agents to OpenAI-compatible and MCP clients; clients send the key in AGENTGYM_AGENT_KEY, if it is set',
    )
    .option('--host <ADDRESS>', 'address to listen on', '127.0.0.1')
    .option('--port <N>', 'port to listen on; 0 for any that is free', wholeNumber('port', portRange), 4480)
  addLanguageModelOptions(serve).action(action(agentServe))
  agent
    .command('mcp')
    .argument('<AGENT...>', 'agent folder, name in ./agents or @scope/name[@range]')
    .description('serve agents as MCP tools over standard input and output, for the client that starts this command')
    .option('--config', 'print the configuration for MCP clients (mcpServers) instead')
    .action(action(agentMcp))
  agent
    .command('types')
    .argument('<AGENT>', 'agent folder, name in ./agents, run ID or @scope/name[@range]')
    .description("write the types of an agent's observations and actions, for programs that load it")
    .option('--python', 'in Python instead of TypeScript')
    .option('--out <FILE>', 'write to this file (default: standard output)')
    .action(action(agentTypes))
  agent
    .command('install')
    .argument('<NAME...>', '@scope/name[@range, tag or version]')
    .description('install agents, like agentgym install')
    .action(action(install))
}

/** `agentgym agent types`: what a program that loads the agent passes and gets, as source code. */
async function agentTypes(
  target: string,
  { python = false, out }: { python?: boolean; out?: string },
  context: CommandContext,
): Promise<void> {
  const { readAgent, writePython, writeTypeScript } = await import('@agentgym/agent/engine')
  const manifest = await readAgent(await obtainAgentFolder(target, context))
  const source = python ? writePython(manifest) : writeTypeScript(manifest)
  const language = python ? 'python' : 'typescript'
  if (out === undefined) {
    context.printJson({ language, source })
    return context.print(source.trimEnd())
  }
  const file = context.resolve(out)
  await namingFile(file, () => writeFile(file, source))
  context.printJson({ language, file })
  context.print(`${context.terminal.paint.accent(context.terminal.symbols.ok)} Wrote ${file}`)
}

type AgentPublishFlags = {
  name?: string
  version?: string
  summary?: string
  tag?: string
  private?: boolean
  dryRun?: boolean
  /** False with --no-wait. */
  wait?: boolean
}

/**
 * `agentgym agent publish`: publishes an agent's folder or the agent of a run. The server checks the model, a worker
 * evaluates it in the sandbox, and the server signs the result if it matches agent.json.
 */
export async function agentPublish(target: string, flags: AgentPublishFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const files = await agentFiles(target, connection, context)
  const packed = await packAgent(files, {
    ...{ name: flags.name, version: flags.version, summary: flags.summary },
    account: (await account(connection)).username,
    knownSummary: (name) => summaryOfPackage(connection, name),
  })
  if (flags.dryRun) return printDryRun(packed, { json: {}, lines: [] }, connection, flags, context)

  const upload = await uploadWithProgress(packed, connection, flags, context).catch((error) => {
    throw explainTaken(error, packed, target)
  })
  if (flags.wait === false) return printUploaded(packed, upload, context)
  const answer = await awaitChecks(connection, packed, upload, context)
  printOutcome(packed, { answer, upload }, context)
}

/** Of its latest version. Undefined for a new package. */
async function summaryOfPackage(connection: Connection, name: string): Promise<string | undefined> {
  try {
    const { summary } = await callApi(connection, { path: packagePath(name), answer: packagePageSchema })
    return summary ?? undefined
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'package_not_found') return undefined
    throw error
  }
}

/** From a folder, the name of one in ./agents, or a run of the user. */
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

/** Training gives every agent the version 0.1.0, so the hint shows how to raise it. */
function explainTaken(error: unknown, { name }: PackedPackage, target: string): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'version_exists') return error
  const { code, message, data } = error
  const command = `agentgym agent publish ${shellQuote(target)} --version X.Y.Z`
  const hint = `Publish it under a new version: ${command}. Published versions: agentgym versions ${shellQuote(name)}`
  return new AgentGymError({ code, message, hint, data }, { cause: error })
}

function printUploaded({ name, version }: PackedPackage, { url, integrity }: Upload, context: CommandContext): void {
  context.printJson({ name, version, state: 'checking', url, integrity, verification: null })
  const { paint, symbols } = context.terminal
  const command = `agentgym info ${shellQuote(`${name}@${version}`)}`
  context.print(`${symbols.next} Being verified. Show the result: ${paint.accent(command)}`)
}

type Outcome = { answer: VersionDetails; upload: Upload }

function printOutcome(packed: PackedPackage, { answer, upload }: Outcome, context: CommandContext): void {
  const { name, version } = packed
  const { state, checks, verification } = answer
  const unverified = new Set<string | undefined>(['mismatch', 'failed', 'inconclusive'])
  const ok = state === 'published' && !unverified.has(verification?.state)
  context.printJson({ ok, name, version, state, url: upload.url, integrity: upload.integrity, checks, verification })
  if (!ok) context.exitCode = 1
  const { terminal } = context
  const { paint, symbols } = terminal
  for (const check of checks) for (const line of checkLines(check, terminal)) context.print(line)
  const label = `${name}@${version}`
  const shown = paint.bold(safeText(label, 240))
  if (state !== 'published') {
    context.print(`${paint.fail(symbols.failed)} The server rejected ${shown}: ${checksFailedText(checks)}`)
    context.print(`${symbols.next} Fix the failed checks and publish again under a higher --version.`)
    return
  }
  context.print(`${paint.accent(symbols.ok)} Published ${shown}: ${safeText(upload.url)}`)
  for (const line of verification === null ? [] : verificationLines(verification, terminal)) context.print(line)
  const [what, command] = verification?.state === 'verified' ? ['Verify it', 'agent verify'] : ['Details', 'info']
  context.print(`${symbols.next} ${what}: ${paint.accent(`agentgym ${command} ${shellQuote(label)}`)}`)
}

type AgentVerifyFlags = { scenario?: string }

/** `agentgym agent verify`: re-runs an agent's evaluations on this machine and checks its signature. */
export async function agentVerify(target: string, flags: AgentVerifyFlags, context: CommandContext): Promise<void> {
  const { terminal } = context
  const options = {
    ...flags,
    onCheck: (check: VerificationReport['checks'][number]) => {
      for (const line of checkLines(check, terminal)) context.print(line)
    },
  }
  // A name with a scope is a package of the registry, unless a folder has the same name.
  const published = existsSync(context.resolve(target)) ? undefined : parsePackageTarget(target)
  const report =
    published === undefined
      ? await verifyFolder(await resolveAgentFolder(target, context), options, context)
      : await verifyPublished(published, options, context)
  context.printJson(report)
  if (!report.ok) context.exitCode = 1
  if (context.json) return
  for (const line of verdictLines(report, context)) context.print(line)
}

function verdictLines(report: VerificationReport, context: CommandContext): string[] {
  const { terminal, verbose } = context
  const { paint, symbols } = terminal
  const { name, version, folder } = report.agent
  const label = paint.bold(safeText(name === null ? context.displayPath(folder) : `${name}@${version}`, 240))
  const versions = verbose ? ['Versions on this machine', ...fieldLines(Object.entries(report.runtime), terminal)] : []
  if (!report.ok) {
    const failed = report.checks.filter(({ ok }) => !ok).map(({ id }) => id.replace('_', ' '))
    return [...versions, `${paint.fail(symbols.failed)} ${label} could not be verified: ${failed.join(', ')} failed`]
  }
  if (name === null) {
    const next = `${symbols.next} Not signed. Publish it to have the server verify it: ${paint.accent('agentgym agent publish')}`
    return [...versions, `${paint.accent(symbols.ok)} ${label} matches the results in agent.json`, next]
  }
  return [
    ...versions,
    `${paint.accent(symbols.ok)} ${label} is verified: the signature is valid and the results were reproduced`,
  ]
}
