import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '@agentgym/client'
import { AgentGymError, parseJson } from '@agentgym/contract'
import { z } from 'zod'
import { agentGymHome, ownSurroundings, type Surroundings } from '../home.ts'

export const defaultServer = 'http://localhost:4477'

export type Connection = {
  /** Address of the server, without a trailing slash. */
  server: string
  token: string | null
  /** Where the token comes from, for the hints of errors. */
  tokenSource: 'environment' | 'login' | null
}

/**
 * The server and the token to use: `AGENTGYM_SERVER` and `AGENTGYM_TOKEN` override what is stored. A stored token is
 * sent to its own server only.
 */
export async function findConnection(surroundings = ownSurroundings(), server?: string): Promise<Connection> {
  const { environment } = surroundings
  const credentials = await readCredentials(surroundings)
  const address = serverAddress(server || environment.AGENTGYM_SERVER || credentials.server || defaultServer)
  const fromEnvironment = environment.AGENTGYM_TOKEN?.trim()
  if (fromEnvironment) return { server: address, token: fromEnvironment, tokenSource: 'environment' }
  const stored = Object.hasOwn(credentials.logins, address) ? credentials.logins[address] : undefined
  return { server: address, token: stored?.token ?? null, tokenSource: stored ? 'login' : null }
}

/** A server address in its normal form: `HTTP://Host:80/` is `http://host`. Throws `config_invalid`. */
function serverAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === '') {
    return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  }
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${JSON.stringify(text.slice(0, 200))} is not a server address`,
    hint: `Write it as ${defaultServer} or https://agentgym.example, without a username or password.`,
    data: { field: 'server' },
  })
}

const loginSchema = z.object({
  username: z.string(),
  token: z.string(),
  /** Null for a token that was not created by `login`. */
  token_id: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** The .npmrc that also contains the token. */
  npmrc: z.string().nullable(),
})

const credentialsSchema = z.object({
  /** The server that was logged in to last. */
  server: z.string().nullable(),
  /** By address: a token is sent only to the server that issued it. */
  logins: z.record(z.string(), loginSchema),
})
export type Credentials = z.infer<typeof credentialsSchema>

export function credentialsPath(surroundings: Surroundings): string {
  return join(agentGymHome(surroundings), 'credentials.json')
}

/** What `login` stored; empty before the first login. */
export async function readCredentials(surroundings: Surroundings): Promise<Credentials> {
  const path = credentialsPath(surroundings)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { server: null, logins: {} }
    throw error
  }
  const parsed = credentialsSchema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${path} is not a valid credentials file`,
    hint: 'Delete it and log in again: agentgym login.',
    data: { path },
  })
}

export function clientOf({ server, token }: Connection): Client {
  return createClient({ server, ...(token === null ? {} : { token }) })
}
