import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { agentGymHome, parsePackageTarget } from '@agentgym/agent/packages'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { disposeAgents, loadServedAgents } from '../targets/served-agents.ts'
import { shellQuote } from '../terminal/text.ts'

export type AgentMcpFlags = { config?: boolean }

/**
 * `agentgym agent mcp`: agents as tools of MCP, over standard input and output, for the program that starts this one. It starts
 * anywhere, so a package is not installed into the working folder but loaded as a program would, from this machine if it can.
 */
export async function agentMcp(
  targets: readonly string[],
  { config = false }: AgentMcpFlags,
  context: CommandContext,
): Promise<void> {
  const sources = await Promise.all(targets.map((target) => sourceOf(target, context)))
  const agents = await loadServedAgents(targets, (_, i) => Promise.resolve(sources[i]))
  try {
    if (config) return printConfiguration(sources, context)
    const { connectMcp, episodesAt } = await import('@agentgym/agent/server')
    const { stdin: input, stdout: output, stderr } = context.io
    if (input.isTTY) stderr.write(howToConfigure(targets))
    const interrupt = cancelOnInterrupt(context)
    const connection = connectMcp(agents, { input, output, episodes: episodesAt(agentGymHome(context.io)) })
    interrupt.signal.addEventListener('abort', () => void connection.close())
    await connection.closed
    interrupt.release()
  } finally {
    disposeAgents(agents)
  }
}

/** A package's name, or an absolute folder: what means the same in every working folder. */
async function sourceOf(target: string, context: CommandContext): Promise<string> {
  const isPackage = parsePackageTarget(target) !== undefined && !existsSync(context.resolve(target))
  return isPackage ? target : resolveAgentFolder(target, context)
}

/** In the form that Claude Desktop, Claude Code, Cursor and others have in common. */
function printConfiguration(sources: readonly string[], context: CommandContext): void {
  const { AGENTGYM_HOME, AGENTGYM_SERVER } = context.io.environment
  const env = { ...(AGENTGYM_HOME && { AGENTGYM_HOME }), ...(AGENTGYM_SERVER && { AGENTGYM_SERVER }) }
  const [command, ...first] = launcher()
  const entry = { command, args: [...first, 'agent', 'mcp', ...sources], ...(Object.keys(env).length > 0 && { env }) }
  const name = sources.length === 1 ? serverName(sources[0]) : 'agentgym'
  const configuration = { mcpServers: { [name]: entry } }
  context.printJson(configuration)
  context.print(JSON.stringify(configuration, null, 2))
}

function serverName(source: string): string {
  const unscoped = unscopedName(parsePackageTarget(source)?.name ?? (source.split(/[\\/]/).at(-1) || 'agent'))
  return unscoped.replace(/[^A-Za-z0-9_-]/g, '-')
}

/** How to start this command from anywhere: programs with windows have a PATH of their own. */
function launcher(): string[] {
  const script = fileURLToPath(new URL('../../../../agentgym', import.meta.url))
  if (existsSync(script)) return [script]
  return [process.execPath, '--no-node-snapshot', fileURLToPath(new URL('../main.ts', import.meta.url))]
}

function howToConfigure(targets: readonly string[]): string {
  const command = `agentgym agent mcp ${targets.map(shellQuote).join(' ')} --config`
  return `Waiting for an MCP client on standard input. For its configuration: ${command}\n`
}
