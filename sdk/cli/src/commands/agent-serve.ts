import { once } from 'node:events'
import { agentGymHome } from '@agentgym/agent/packages'
import type { ServedAgent } from '@agentgym/agent/server'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { serverKey } from '../server-key.ts'
import { obtainAgentFolder } from '../targets/agents.ts'
import { disposeAgents, loadServedAgents } from '../targets/served-agents.ts'
import { safeText, shellQuote } from '../terminal/text.ts'
import { type LanguageModelFlags, openLanguageModel } from './agent-serve-model.ts'

export type AgentServeFlags = LanguageModelFlags & { host: string; port: number }

/** `agentgym agent serve`: agents behind the APIs that clients of language models speak, and as tools of MCP, until Ctrl-C. */
export async function agentServe(
  targets: readonly string[],
  flags: AgentServeFlags,
  context: CommandContext,
): Promise<void> {
  const { host, port } = flags
  const { agentServer, episodesAt, listenAgents } = await import('@agentgym/agent/server')
  const key = serverKey('AGENTGYM_AGENT_KEY', host, context)
  const agents = await loadServedAgents(targets, (target) => obtainAgentFolder(target, context))
  const episodes = episodesAt(agentGymHome(context.io))
  const beside = await openLanguageModel(flags, agents, context)
  const server = await listenAgents(agentServer(agents, { key, episodes, ...beside.options }), { host, port })
  const interrupt = cancelOnInterrupt(context, () => {})
  try {
    announce(agents, { url: server.url, first: targets[0], flags }, context)
    if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort')
  } finally {
    interrupt.release()
    await server.close()
    beside.close()
    disposeAgents(agents)
  }
}

function announce(
  agents: readonly ServedAgent[],
  { url, first, flags }: { url: string; first: string; flags: LanguageModelFlags },
  context: CommandContext,
): void {
  context.printJson({ event: 'listening', url, models: agents.map(({ name, version }) => ({ name, version })) })
  const { paint, symbols } = context.terminal
  for (const { name, version } of agents) {
    const label = version === null ? name : `${name}@${version}`
    context.print(`${paint.accent(symbols.ok)} Serving ${paint.bold(safeText(label, 240))}`)
  }
  if (flags.llmBaseUrl !== undefined)
    context.print(
      `${symbols.ok} ${safeText(flags.llmModel ?? '', 240)} at ${safeText(flags.llmBaseUrl, 240)} writes the texts`,
    )
  context.print(
    `${symbols.next} OpenAI-compatible: ${paint.accent(`${url}/v1`)}; many observations at once: POST ${url}/act`,
  )
  context.print(`${symbols.next} MCP: ${paint.accent(`${url}/mcp`)}`)
  context.print(`${symbols.next} Try it: ${paint.accent(`curl ${url}/v1/models`)}`)
  const types = `agentgym agent types ${shellQuote(first)}`
  context.print(`${symbols.next} What it observes: ${paint.accent(types)}. Press Ctrl-C to stop.`)
}
