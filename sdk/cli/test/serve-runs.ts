import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CliOptions, type CliResult, runCli } from '@agentgym/testkit/command-line'
import { afterAll, afterEach } from 'vitest'
import { type RunServer, type RunServerOptions, startRunServer } from './run-server.ts'

export type ServedRuns = {
  /** Where the command works. */
  folder: string
  /** The server of this test; it ends with it. */
  serve(options?: RunServerOptions): Promise<RunServer>
  /** Runs a command as a user who is logged in to the server. */
  agentgym(words: string[], options?: CliOptions): Promise<CliResult>
}

/** For the tests of one file: a server of runs each, and a folder for all of them. */
export function serveRuns(): ServedRuns {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-runs-'))
  let server: RunServer | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    serve: async (options) => {
      server = await startRunServer(options)
      return server
    },
    agentgym: (words, options = {}) => {
      const environment = {
        AGENTGYM_SERVER: server?.url ?? '',
        AGENTGYM_TOKEN: 'agt_test',
        AGENTGYM_HOME: join(folder, 'home'),
      }
      return runCli(words, { cwd: folder, ...options, environment: { ...environment, ...options.environment } })
    },
  }
}
