import { AgentGymError } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { readCredentials } from './credentials.ts'

export const defaultServer = 'http://localhost:4477'

export type Connection = {
  /** Address of the server, without a trailing slash. */
  server: string
  token: string | null
  /** Where the token comes from, for errors that say how to mend it. */
  tokenSource: 'environment' | 'login' | null
}

/**
 * The server to talk to and who talks: `AGENTGYM_SERVER` and `AGENTGYM_TOKEN` override what is stored. A stored token is
 * used for its own server only.
 */
export async function findConnection({ io }: CommandContext, server?: string): Promise<Connection> {
  const credentials = await readCredentials(io)
  const address = serverAddress(server || io.environment.AGENTGYM_SERVER || credentials.server || defaultServer)
  const fromEnvironment = io.environment.AGENTGYM_TOKEN?.trim()
  if (fromEnvironment) return { server: address, token: fromEnvironment, tokenSource: 'environment' }
  const stored = Object.hasOwn(credentials.logins, address) ? credentials.logins[address] : undefined
  return { server: address, token: stored?.token ?? null, tokenSource: stored ? 'login' : null }
}

/** An address as it is compared and stored: `HTTP://Host:80/` is `http://host`. Throws `config_invalid`. */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '') {
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  }
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${JSON.stringify(text.slice(0, 200))} is not the address of a server`,
    hint: `Write it as ${defaultServer} or https://agentgym.example, without user name or password.`,
    data: { field: 'server' },
  })
}
