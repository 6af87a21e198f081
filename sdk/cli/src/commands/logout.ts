import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import { findConnection } from '../account/connection.ts'
import { readCredentials, writeCredentials } from '../account/credentials.ts'
import { removeFromNpmrc } from '../account/npmrc.ts'
import type { CommandContext } from '../command-context.ts'
import { callApi } from '../registry/registry-api.ts'

/** `agentgym logout`: forgets the token of the server here and in .npmrc, and revokes it there. */
export async function logout(context: CommandContext): Promise<void> {
  const { server } = await findConnection(context)
  const credentials = await readCredentials(context.io)
  const stored = Object.hasOwn(credentials.logins, server) ? credentials.logins[server] : undefined
  const { paint, symbols } = context.terminal
  if (stored === undefined) {
    context.sayJson({ server, username: null, revoked: false })
    context.say(`Nobody is logged in at ${server} on this machine.`)
    return
  }
  // Here first: whatever the server says, the token is gone from this machine.
  if (stored.npmrc !== null) await removeFromNpmrc(stored.npmrc, { server, token: stored.token })
  delete credentials.logins[server]
  await writeCredentials(credentials, context.io)
  const revoked = stored.token_id !== null && (await revoke(server, stored.token, stored.token_id))
  context.sayJson({ server, username: stored.username, revoked })
  context.say(`${paint.accent(symbols.ok)} Logged out at ${server}`)
  if (!revoked) {
    context.say(`${symbols.warning} The token was removed here but not revoked there; it is good until it expires.`)
  }
}

async function revoke(server: string, token: string, id: string): Promise<boolean> {
  try {
    await callApi(
      { server, token, tokenSource: 'login' },
      { method: 'DELETE', path: `/v1/tokens/${encodeURIComponent(id)}`, answer: z.any() },
    )
    return true
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    // A token that the server does not know any more is as good as revoked.
    return error.code === 'unauthenticated'
  }
}
