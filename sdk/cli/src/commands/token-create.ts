import { tokenScopeSchema } from '@agentgym/contract'
import { askPassword } from '../account/ask-password.ts'
import { findConnection } from '../account/connection.ts'
import { tokenByPassword } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { oneOf } from '../command-line-choices.ts'
import { safeText } from '../terminal/safe-text.ts'

export type TokenFlags = { username: string; scope: string[]; days?: number }

/** `agentgym token create`: a token for a worker or a program. Nothing is stored here; it is printed once. */
export async function tokenCreate(name: string, flags: TokenFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const { username } = flags
  const scopes = flags.scope.map((text) => oneOf('scope', text, tokenScopeSchema.options))
  const password = await askPassword(`Password of ${safeText(username, 60)} at ${server}`, { repeat: false }, context)
  const request = { name, scopes, ...(flags.days === undefined ? {} : { expires_in_days: flags.days }) }
  const { token, id, expiresAt } = await tokenByPassword(server, { username, password }, request)
  context.sayJson({ server, id, name, scopes, expires_at: expiresAt, token })
  // Alone on its line, and alone on stdout where that is no terminal: AGENTGYM_TOKEN=$(agentgym token create …).
  context.say(token)
  if (!context.terminal.live) return
  const { paint, symbols } = context.terminal
  context.say(`${symbols.warning} It is not shown again. It holds until ${expiresAt?.slice(0, 10) ?? 'it is revoked'}.`)
  context.say(`${symbols.next} Whoever has it sets ${paint.accent('AGENTGYM_TOKEN')}.`)
}
