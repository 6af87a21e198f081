import { join } from 'node:path'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { downloadAgent } from '../runs/download-agent.ts'
import { findRun } from '../runs/find-run.ts'
import { unscopedName } from '../targets/built-in-scenarios.ts'
import { agentsFolder } from '../targets/resolve-agent.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'

export type RunsDownloadFlags = { out?: string; force?: boolean }

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
