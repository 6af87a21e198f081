import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { findRun } from '../runs/find-run.ts'
import { watchRunHere } from '../runs/watch-run-here.ts'

/** `agentgym runs watch`: a run from its first event to its end. It writes nothing here: `runs download` does. */
export async function runsWatch(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  await watchRunHere(connection, run, { out: null, force: false }, context)
}
