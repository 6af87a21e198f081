import { existsSync } from 'node:fs'
import type { CommandContext } from '../command-context.ts'
import { parsePackageTarget } from '../registry/package-target.ts'
import { resolveAgentFolder } from '../targets/resolve-agent.ts'
import { checkLines } from '../terminal/check-lines.ts'
import { fieldLines } from '../terminal/field-lines.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type VerificationReport, verifyFolder, verifyPublished } from '../verification/verify-agent.ts'

export type AgentVerifyFlags = { scenario?: string }

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
