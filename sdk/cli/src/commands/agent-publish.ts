import { AgentGymError, type VersionDetails } from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { type AgentFiles, packAgent, readAgentFiles } from '../packages/pack-agent.ts'
import type { PackedPackage } from '../packages/packed-package.ts'
import { sayDryRun, uploadHere, waitHere } from '../packages/publish-here.ts'
import type { Upload } from '../packages/upload-package.ts'
import { looksLikeId } from '../registry/find-by-id.ts'
import { fetchAgent } from '../runs/download-agent.ts'
import { findRun } from '../runs/find-run.ts'
import { resolveAgentFolder } from '../targets/resolve-agent.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import { verificationLines } from '../verification/verification-lines.ts'

export type AgentPublishFlags = {
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
