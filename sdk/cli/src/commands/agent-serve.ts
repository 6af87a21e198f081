import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { ServedAgent } from '@agentgym/agent/server'
import { AgentGymError } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { obtainAgentFolder } from '../targets/agents.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export type AgentServeFlags = { host: string; port: number }

/** `agentgym agent serve`: agents behind the APIs that clients of language models speak, until Ctrl-C. */
export async function agentServe(
  targets: readonly string[],
  { host, port }: AgentServeFlags,
  context: CommandContext,
): Promise<void> {
  const key = context.io.environment.AGENTGYM_AGENT_KEY?.trim() || undefined
  if (key === undefined && !isLoopback(host)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--host is ${host}, which other machines reach, and AGENTGYM_AGENT_KEY is not set`,
      hint: 'Set AGENTGYM_AGENT_KEY to a secret that clients send as their API key, or leave out --host.',
      data: { field: 'AGENTGYM_AGENT_KEY' },
    })
  }
  const [{ loadAgent }, { listenAgents, agentServer }] = await Promise.all([
    import('@agentgym/agent'),
    import('@agentgym/agent/server'),
  ])
  const agents: ServedAgent[] = []
  for (const target of targets) {
    const agent = await loadAgent(await obtainAgentFolder(target, context))
    const { name, version } = agent.package ?? { name: target, version: null }
    if (agents.some((other) => other.name === name)) {
      throw new AgentGymError({
        code: 'usage_invalid',
        message: `two of the agents are called ${name}`,
        hint: 'Serve each name once.',
        data: { name },
      })
    }
    agents.push({ name, version, agent })
  }
  const server = await listenAgents(agentServer(agents, { key }), { host, port })
  const interrupt = cancelOnInterrupt(context, () => {})
  try {
    announce(agents, { url: server.url, first: targets[0] }, context)
    if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort')
  } finally {
    interrupt.release()
    await server.close()
    for (const { agent } of agents) agent.dispose()
  }
}

function announce(
  agents: readonly ServedAgent[],
  { url, first }: { url: string; first: string },
  context: CommandContext,
): void {
  context.printJson({ event: 'listening', url, models: agents.map(({ name, version }) => ({ name, version })) })
  const { paint, symbols } = context.terminal
  for (const { name, version } of agents) {
    const label = version === null ? name : `${name}@${version}`
    context.print(`${paint.accent(symbols.ok)} Serving ${paint.bold(safeText(label, 240))}`)
  }
  context.print(
    `${symbols.next} OpenAI-compatible: ${paint.accent(`${url}/v1`)}; many observations at once: POST ${url}/act`,
  )
  context.print(`${symbols.next} Try it: ${paint.accent(`curl ${url}/v1/models`)}`)
  const types = `agentgym agent types ${shellQuote(first)}`
  context.print(`${symbols.next} What it observes: ${paint.accent(types)}. Press Ctrl-C to stop.`)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host) || (isIPv6(host) && host === '0:0:0:0:0:0:0:1')
}
