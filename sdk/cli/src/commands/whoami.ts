import { findConnection } from '../account/connection.ts'
import { account } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { safeText } from '../terminal/safe-text.ts'

/** `agentgym whoami`: who the server takes us for, and what the token may do. */
export async function whoami(context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const own = await account(connection)
  context.sayJson({ server: connection.server, ...own })
  const { paint } = context.terminal
  const row = (name: string, value: string) => context.say(`  ${paint.dim(name.padEnd(13))}  ${safeText(value, 300)}`)
  context.say(paint.bold(safeText(own.username)))
  row('server', connection.server)
  row('email', `${own.email ?? '-'}${own.email_verified ? '' : ' (not confirmed)'}`)
  if (own.organisations.length > 0) {
    row('organisations', own.organisations.map(({ username, role }) => `${username} (${role})`).join(', '))
  }
  row('scopes', own.scopes.join(', '))
  if (connection.tokenSource === 'environment') row('token', 'from AGENTGYM_TOKEN')
}
