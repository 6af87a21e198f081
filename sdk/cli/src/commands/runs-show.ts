import type { Run } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { shortId } from '../registry/find-by-id.ts'
import { findRun } from '../runs/find-run.ts'
import { readHistory } from '../runs/read-history.ts'
import { runReport } from '../runs/run-report.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** `agentgym runs show`: all of a run: its curve, its result, what it cost and what befell it. */
export async function runsShow(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const history = await readHistory(connection, run)
  context.sayJson({ ...run, ...history })
  if (context.json) return
  const options = { verbose: context.verbose, nowMs: Date.now() }
  for (const line of runReport(run, history, context.terminal, options)) context.say(line)
  context.say(nextLine(run, context.terminal))
}

function nextLine(run: Run, { paint, symbols }: Terminal): string {
  const id = shortId(run.id)
  const next: Record<Run['state'], [string, string]> = {
    queued: ['Watch it', `agentgym runs watch ${id}`],
    running: ['Watch it', `agentgym runs watch ${id}`],
    completed: ['Fetch the agent', `agentgym runs download ${id}`],
    budget_exceeded: ['Go on with a higher budget', `agentgym runs resume ${id} --budget AMOUNT`],
    failed: ['Other runs', 'agentgym runs list'],
    cancelled: ['Other runs', 'agentgym runs list'],
  }
  const [what, command] = next[run.state]
  return `${symbols.next} ${what}: ${paint.accent(command)}`
}
