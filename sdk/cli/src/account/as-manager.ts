import type { CommandContext } from '../command-context.ts'
import { safeText } from '../terminal/safe-text.ts'
import { askPassword } from './ask-password.ts'
import type { Connection } from './connection.ts'
import { account, withSession } from './log-in.ts'

/**
 * Does what needs the scope `account:manage`. A token of `agentgym login` does not have it, so that whoever gets at one cannot
 * lift what limits it: then the password is asked for, and a session does the work.
 */
export async function asManager<Value>(
  connection: Connection,
  work: (connection: Connection, headers: Record<string, string>) => Promise<Value>,
  context: CommandContext,
): Promise<Value> {
  const { username, scopes } = await account(connection)
  if (scopes.includes('account:manage')) return work(connection, {})
  const { server } = connection
  const password = await askPassword(`Password of ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  return withSession(server, { username, password }, work)
}
