import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { CommandIo } from '../command-io.ts'
import { agentGymHome } from './agentgym-home.ts'
import { writePrivateFile } from './write-private-file.ts'

const loginSchema = z.object({
  username: z.string(),
  token: z.string(),
  /** Null for a token that was made elsewhere. */
  token_id: z.string().nullable(),
  expires_at: z.string().nullable(),
  /** The .npmrc that the token stands in as well. */
  npmrc: z.string().nullable(),
})

const credentialsSchema = z.object({
  /** The server that was logged in to last. */
  server: z.string().nullable(),
  /** By address: a token goes to no other server than the one that made it. */
  logins: z.record(z.string(), loginSchema),
})
export type Credentials = z.infer<typeof credentialsSchema>

function credentialsPath(io: CommandIo): string {
  return join(agentGymHome(io), 'credentials.json')
}

/** What `login` stored; nothing where nobody has logged in. */
export async function readCredentials(io: CommandIo): Promise<Credentials> {
  const path = credentialsPath(io)
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
    message: `${path} is damaged: it does not hold what agentgym login writes`,
    hint: 'Remove it and log in again: agentgym login.',
    data: { path },
  })
}

export async function writeCredentials(credentials: Credentials, io: CommandIo): Promise<void> {
  await writePrivateFile(credentialsPath(io), `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
