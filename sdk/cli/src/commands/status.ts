import type { ServerStatus } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { readStatus } from '../runs/run-api.ts'
import { statusLines } from '../runs/status-lines.ts'

/** `agentgym status`: the server's queue, its workers, and the user's runs. */
export async function status(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const answer: ServerStatus = await readStatus(connection)
  context.sayJson({ server: connection.server, ...answer })
  if (context.json) return
  for (const line of statusLines(connection.server, answer, context.terminal, Date.now())) context.say(line)
}
