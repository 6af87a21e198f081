import { accountSchema } from '@agentgym/contract'
import { askPassword } from '../account/ask-password.ts'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { callApi } from '../registry/registry-api.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'

export type SignupFlags = { username: string; email: string }

/** `agentgym signup`: makes an account. Logging in is a step of its own, for it writes to this machine. */
export async function signup(flags: SignupFlags, context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const { username, email } = flags
  const password = await askPassword(
    `New password for ${safeText(username, 60)} at ${server}`,
    { repeat: true },
    context,
  )
  const account = await callApi(
    { server, token: null, tokenSource: null },
    { method: 'POST', path: '/v1/accounts', json: { username, email, password }, answer: accountSchema },
  )
  context.sayJson({ server, ...account })
  const { paint, symbols } = context.terminal
  context.say(`${paint.accent(symbols.ok)} Made the account ${paint.bold(safeText(account.username))} at ${server}`)
  if (!account.email_verified) context.say(`  A mail to ${safeText(email, 254)} asks to confirm the address.`)
  const command = `agentgym login --username ${shellQuote(account.username)}`
  context.say(`${symbols.next} Log in on this machine: ${paint.accent(command)}`)
}
