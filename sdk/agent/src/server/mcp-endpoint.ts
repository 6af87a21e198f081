import { AgentGymError, parseJson } from '@agentgym/contract'
import {
  askedOf,
  type McpAgent,
  type McpTool,
  mcpDecision,
  mcpFailure,
  mcpInstructions,
  mcpResult,
  mcpTools,
  readEpisodeId,
  readEpisodeStep,
  readMcpArguments,
  standardSchema,
  withArguments,
} from '@agentgym/contract/protocols'
import {
  createMcpHandler,
  isJsonContentType,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import packageJson from '../../package.json' with { type: 'json' }
import type { AgentMetrics } from './agent-metrics.ts'
import type { Episodes } from './episodes.ts'
import { asAnswer, asMcpAgent, type ServedAgent } from './served-agents.ts'

export type McpOptions = {
  episodes: Episodes
  metrics: Pick<AgentMetrics, 'timed' | 'failed'>
  /** Of the server: who has it may use the episodes that were begun with it. */
  key?: string
}

/** A list of tools depends on the served agents alone: clients may keep it for an hour, and share it. */
const cacheHints = { 'tools/list': { ttlMs: 3_600_000, cacheScope: 'public' as const } }

/**
 * MCP servers with the tools of these agents: what the SDK makes for each request or connection, for clients of every revision.
 * Throws `usage_invalid` if two agents have the same name.
 */
export function mcpServers(agents: readonly ServedAgent[], options: McpOptions): () => McpServer {
  const tools = agents.flatMap((served) => {
    const agent = asMcpAgent(served)
    return mcpTools(agent).map((tool) => ({ tool, answer: answerOf(tool, agent, served, options) }))
  })
  return () => {
    const info = { name: 'agentgym', title: 'AgentGym agents', version: packageJson.version }
    const server = new McpServer(info, {
      cacheHints,
      instructions: mcpInstructions,
      capabilities: { tools: { listChanged: false } },
    })
    for (const { tool, answer } of tools) {
      const { name, title, description, annotations } = tool
      const config = {
        ...{ title, description, annotations },
        inputSchema: standardSchema(tool.inputSchema),
        outputSchema: standardSchema(tool.outputSchema),
      }
      server.registerTool(name, config, (given) => resultOf(() => answer(readMcpArguments(tool, given)), options))
    }
    return server
  }
}

type Answer = (given: Record<string, unknown>) => Record<string, unknown>

function answerOf(tool: McpTool, mcp: McpAgent, { name, agent }: ServedAgent, options: McpOptions): Answer {
  const { episodes, metrics, key = '' } = options
  const owner = { key, modelHash: agent.manifest.model_hash }
  const decide = (asked: ReturnType<typeof askedOf>, state?: string | null) => {
    const decision = metrics.timed('mcp', name, () => agent.act(asked.observation, { mask: asked.mask, state }))
    return { decision: mcpDecision(asAnswer(decision), mcp), state: decision.state }
  }
  switch (tool.verb) {
    case 'decide':
      return (given) => decide(askedOf(given, mcp)).decision
    case 'start_episode':
      return () => ({ episode_id: episodes.start(owner), next_step: 0 })
    case 'act':
      return (given) => {
        const asked = askedOf(given, mcp)
        const place = { ...readEpisodeStep(given), asked }
        const { decision, next_step } = episodes.act(owner, place, (state) => decide(asked, state))
        return { ...decision, step: place.step, next_step }
      }
    case 'end_episode':
      return (given) => ({ ended: episodes.end(owner, readEpisodeId(given)) })
  }
}

/** What the agent answers, or what a call is refused for. */
function resultOf(answer: () => Record<string, unknown>, { metrics }: McpOptions) {
  const text = (said: string) => [{ type: 'text' as const, text: said }]
  try {
    return mcpResult(answer())
  } catch (error) {
    if (error instanceof AgentGymError) {
      metrics.failed(error.code)
      return { isError: true, content: text(mcpFailure(error)) }
    }
    metrics.failed('internal_error')
    console.error(error)
    return { isError: true, content: text('The server failed; its log says why.') }
  }
}

export type McpEndpoint = { fetch(request: Request): Promise<Response>; close(): Promise<void> }

/**
 * Streamable HTTP at one path: the revision of 2026-07-28, and those before it without sessions. Without a key only pages of this
 * machine may call it, so that no page of the web can by way of a browser.
 */
export function mcpEndpoint(servers: () => McpServer, { key }: Pick<McpOptions, 'key'>): McpEndpoint {
  const handler = createMcpHandler(servers, { legacy: 'stateless' })
  return {
    close: handler.close,
    async fetch(request) {
      const refused = key === undefined ? originValidationResponse(request, localhostAllowedOrigins()) : undefined
      if (refused !== undefined) return refused
      if (request.method !== 'POST' || !isJsonContentType(request.headers.get('content-type'))) {
        return handler.fetch(request)
      }
      const { url, method, headers, signal } = request
      const body = await request.text()
      const parsedBody = withArguments(parseJson(body))
      return handler.fetch(new Request(url, { method, headers, signal, body }), { parsedBody })
    },
  }
}
