// The program of a deployment, bundled into its folder by `agentgym env manifest`: it serves every scenario in the folder
// `scenarios` beside it. HOST and PORT say where it listens; AGENTGYM_ENV_KEY is what clients send as their key, and
// AGENTGYM_WITHOUT_KEY=1 lets other machines in without one. AGENTGYM_MAX_SESSIONS and AGENTGYM_SESSION_TIMEOUT (seconds)
// bound what they hold.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopback } from '@agentgym/agent/own-server'
import { AgentGymError } from '@agentgym/contract'
import { readBundle } from '../sandbox/build-scenario.ts'
import { envServer } from './env-server.ts'
import { listenEnvironments } from './listen.ts'
import { openEnvironment, type ServedEnvironment } from './served-environment.ts'

const { HOST: host = '127.0.0.1', PORT: port = '8000', AGENTGYM_ENV_KEY, AGENTGYM_WITHOUT_KEY } = process.env
const { AGENTGYM_MAX_SESSIONS: most = '64', AGENTGYM_SESSION_TIMEOUT: idle = '1800' } = process.env
const key = AGENTGYM_ENV_KEY?.trim() || undefined
const withoutKey = key === undefined && AGENTGYM_WITHOUT_KEY === '1'

try {
  if (key === undefined && !withoutKey && !isLoopback(host)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `HOST is ${host}, which other machines reach, and AGENTGYM_ENV_KEY is not set`,
      hint: 'Set AGENTGYM_ENV_KEY to a secret that clients send, or AGENTGYM_WITHOUT_KEY=1 where everyone may play who reaches this port.',
    })
  }
  const folder = join(import.meta.dirname, 'scenarios')
  const environments: ServedEnvironment[] = []
  for (const entry of readdirSync(folder).sort())
    environments.push(await openEnvironment(readBundle(join(folder, entry))))
  const limits = { most: count('AGENTGYM_MAX_SESSIONS', most), idleMs: count('AGENTGYM_SESSION_TIMEOUT', idle) * 1_000 }
  const { app, sessions } = envServer(environments, { key, withoutKey, ...limits })
  const server = await listenEnvironments(app, { host, port: Number(port) })
  const names = environments.map(({ name }) => name)
  console.log(JSON.stringify({ event: 'listening', url: server.url, environments: names }))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      sessions.close()
      await server.close()
      await Promise.all(environments.map(({ host: processes }) => processes.close()))
      process.exit(0)
    })
  }
} catch (error) {
  if (!(error instanceof AgentGymError)) throw error
  const { code, message, hint } = error.toReport()
  console.error(JSON.stringify({ event: 'failed', code, message, hint }))
  process.exit(1)
}

function count(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${name} is ${JSON.stringify(text.slice(0, 100))}, which is not a whole number above 0`,
    data: { field: name },
  })
}
