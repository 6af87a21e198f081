import type { Readable, Writable } from 'node:stream'
import { withArguments } from '@agentgym/contract/protocols'
import type { Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { agentMetrics } from './agent-metrics.ts'
import { type Episodes, episodesAt } from './episodes.ts'
import { mcpServers } from './mcp-endpoint.ts'
import type { ServedAgent } from './served-agents.ts'

export type McpConnection = {
  /** Resolves when the client has closed its end, or `close` was called. */
  closed: Promise<void>
  close(): Promise<void>
}

type StdioOptions = {
  input: Readable
  output: Writable
  episodes?: Episodes
}

/** Agents as tools of MCP for the program that started this one, over its standard streams. Nothing else may write to `output`. */
export function connectMcp(
  agents: readonly ServedAgent[],
  { input, output, episodes = episodesAt() }: StdioOptions,
): McpConnection {
  const inner = new StdioServerTransport(input, output)
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const transport: Transport = {
    start: () => inner.start(),
    send: (message) => inner.send(message),
    close: () => inner.close(),
  }
  inner.onmessage = (message) => transport.onmessage?.(withArguments(message) as typeof message)
  inner.onerror = (error) => transport.onerror?.(error)
  inner.onclose = () => {
    transport.onclose?.()
    resolve()
  }
  const handle = serveStdio(mcpServers(agents, { episodes, metrics: agentMetrics() }), { transport })
  return { closed, close: handle.close }
}
