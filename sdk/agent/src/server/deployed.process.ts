// The program of a deployment, bundled into its folder by `agentgym deploy`: it serves every agent in the folder `agents`
// beside it. HOST and PORT say where it listens; AGENTGYM_AGENT_KEY is what clients send as their API key.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { loadAgent } from '../load-agent.ts'
import { agentServer } from './agent-server.ts'
import { listenAgents } from './listen.ts'
import { isLoopback } from './own-server.ts'
import type { ServedAgent } from './served-agents.ts'

const { HOST: host = '127.0.0.1', PORT: port = '4480', AGENTGYM_AGENT_KEY } = process.env
const key = AGENTGYM_AGENT_KEY?.trim() || undefined

try {
  if (key === undefined && !isLoopback(host)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `HOST is ${host}, which other machines reach, and AGENTGYM_AGENT_KEY is not set`,
      hint: 'Set AGENTGYM_AGENT_KEY to a secret that clients send as their API key.',
    })
  }
  const folder = join(import.meta.dirname, 'agents')
  const agents: ServedAgent[] = []
  for (const entry of readdirSync(folder).sort()) {
    const agent = await loadAgent(join(folder, entry), { offline: true })
    agents.push({ name: agent.package?.name ?? entry, version: agent.package?.version ?? null, agent })
  }
  const server = await listenAgents(agentServer(agents, { key }), { host, port: Number(port) })
  console.log(JSON.stringify({ event: 'listening', url: server.url, models: agents.map(({ name }) => name) }))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      await server.close()
      process.exit(0)
    })
  }
} catch (error) {
  if (!(error instanceof AgentGymError)) throw error
  const { code, message, hint } = error.toReport()
  console.error(JSON.stringify({ event: 'failed', code, message, hint }))
  process.exit(1)
}
