import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Client } from '@agentgym/client'
import { type RunningServer, type ServeOptions, serve } from '@agentgym/registry'
import { signUpAt } from './people.ts'
import { dataFolder } from './registry.ts'

export type TestServer = RunningServer & {
  /** Its data folder. */
  data: string
  /** A new account, logged in: see `signUpAt`. */
  signUp(username: string, scopes?: string[]): Promise<{ client: Client; token: string }>
  remove(): Promise<void>
}

/** A server in this process, as `agentgym serve` starts it, on a folder that goes when it is removed. */
export async function startServer(options: ServeOptions = {}): Promise<TestServer> {
  const environment: ServeOptions['environment'] = { AGENTGYM_LOG_LEVEL: 'error', ...options.environment }
  const isEmbedded = environment.DATABASE_URL === undefined
  const folder =
    options.data ?? (isEmbedded ? await dataFolder() : mkdtempSync(path.join(tmpdir(), 'agentgym-server-')))
  const server = await serve({ port: 0, data: folder, ...options, environment })
  return {
    ...server,
    data: folder,
    signUp: (username, scopes) => signUpAt(server.url, username, scopes),
    remove: async () => {
      await server.close()
      if (options.data === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}
