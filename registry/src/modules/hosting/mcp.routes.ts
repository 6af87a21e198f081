import {
  AgentGymError,
  hostedCallHeadersSchema,
  mcpRequestSchema,
  mcpResponseSchema,
  parseJson,
} from '@agentgym/contract'
import {
  askedOf,
  type McpAgent,
  type McpVerb,
  mcpDecision,
  mcpFailure,
  mcpInstructions,
  mcpResult,
  mcpTools,
  readEpisodeId,
  readEpisodeStep,
  readMcpArguments,
  requestInvalid,
  standardSchema,
  withArguments,
} from '@agentgym/contract/protocols'
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import type { Context } from 'hono'
import { type Actor, requireActor } from '../../core/access/authorize.ts'
import { faultReport } from '../../core/http/answer-error.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, declare, failures, json } from '../../core/http/route.ts'
import { version as serverVersion } from '../../core/version.ts'
import { callAgent, findCallable } from './call-agent.ts'
import type { HostingServices } from './call-broker.ts'
import { type AgentSpaces, answerOf, modelOf, spacesOf } from './chat-completions.ts'
import { actInEpisode, type Decided, type EpisodeCall, endEpisode, startEpisode } from './hosted-episodes.ts'

/** A list of tools depends on the agent's version alone, and private agents have one, too. */
const cacheHints = { 'tools/list': { ttlMs: 60_000, cacheScope: 'private' as const } }
const priceHeaders = hostedCallHeadersSchema.pick({ 'agentgym-max-price': true })
const priceHeader = priceHeaders.shape['agentgym-max-price']

const mcpRoute = createRoute({
  method: 'post',
  path: '/mcp/{scope}/{name}',
  operationId: 'callMcp',
  summary: 'Call a hosted agent as a tool of MCP',
  description:
    'The Model Context Protocol over streamable HTTP, for clients of revision 2026-07-28 and of those before it, without sessions. `tools/list` has one tool, whose arguments are the agent’s observation; `tools/call` calls the agent. An agent with memory has three: `start_episode`, which gives a handle that is good for this account alone, `act`, and `end_episode`. Requires the scope `agents:call`. Admission and metering are the same as for `/v1/packages/{scope}/{name}/calls`; a call that is refused is a result with `isError`. Beginning and ending episodes is not a call.',
  request: {
    params: z.object({
      scope: z.string().openapi({ example: '@acme', description: 'The owner, with its @.' }),
      name: z
        .string()
        .openapi({ example: 'cart-pole-ppo', description: 'With a version or range after `@`, if not the latest.' }),
    }),
    headers: priceHeaders,
    body: { required: true, content: json(mcpRequestSchema) },
  },
  responses: {
    200: {
      description: 'The response, as JSON or as an event of a stream.',
      content: { ...json(mcpResponseSchema), 'text/event-stream': { schema: z.any().openapi({ type: 'string' }) } },
    },
    202: { description: 'A notification, which has no response.' },
    ...failures(
      ...(['unauthenticated', 'forbidden', 'email_unconfirmed', 'package_not_found'] as const),
      ...(['version_not_found', 'request_too_large'] as const),
    ),
  },
})

/** A version of an agent, as its caller asks it. */
type Serving = { found: { id: string; name: string }; version: string; versionId: string; spaces: AgentSpaces }

async function servingOf(services: HostingServices, actor: Actor, model: string): Promise<Serving> {
  const { query } = services.database
  const { name, version: range } = modelOf(model)
  const { found, row } = await findCallable(query, actor, name, range)
  const spaces = await spacesOf(query, { versionId: row.id })
  if (spaces === undefined) throw requestInvalid('name', 'this version does not say what it observes')
  return { found, version: row.version, versionId: row.id, spaces }
}

function mcpAgentOf({ found, version, spaces }: Serving): McpAgent {
  return { ...spaces, name: found.name, model: `${found.name}@${version}` }
}

/** The tools of one agent, which call it for this caller: what the SDK makes for each request. */
async function serverOf(services: HostingServices, c: Context<Env>, model: string): Promise<() => McpServer> {
  const actor = requireActor(c.get('actor'), 'agents:call')
  const serving = await servingOf(services, actor, model)
  const maxPriceMinor = priceHeader.safeParse(c.req.header('agentgym-max-price')).data
  const caller: Caller = { services, actor, maxPriceMinor, signal: c.req.raw.signal }
  return () => {
    const info = { name: 'agentgym', title: 'AgentGym agents', version: serverVersion }
    const capabilities = { tools: { listChanged: false } }
    const server = new McpServer(info, { cacheHints, instructions: mcpInstructions, capabilities })
    for (const tool of mcpTools(mcpAgentOf(serving))) {
      const { name: called, title, description, annotations } = tool
      const schemas = { inputSchema: standardSchema(tool.inputSchema), outputSchema: standardSchema(tool.outputSchema) }
      server.registerTool(called, { title, description, annotations, ...schemas }, (given) =>
        resultOf(services, c, async () => answerTo(tool.verb, readMcpArguments(tool, given), serving, caller)),
      )
    }
    return server
  }
}

type Caller = {
  services: HostingServices
  actor: Actor
  maxPriceMinor: number | undefined
  signal: AbortSignal
}

async function answerTo(
  verb: McpVerb,
  given: Record<string, unknown>,
  serving: Serving,
  caller: Caller,
): Promise<Record<string, unknown>> {
  const { services, actor } = caller
  const { database } = services
  const owner = { accountId: actor.accountId, packageId: serving.found.id }
  switch (verb) {
    case 'decide':
      return (await decide(askedOf(given, serving.spaces), serving, caller)).decision
    case 'start_episode':
      return { episode_id: await startEpisode(database, actor.accountId, serving.versionId), next_step: 0 }
    case 'act': {
      const place = readEpisodeStep(given)
      const asked = askedOf(given, serving.spaces)
      const { decision, next_step } = await actInEpisode(database.query, owner, { ...place, asked }, async (step) => {
        // A version that was published since has another memory.
        const begun =
          step.version === serving.version ? serving : await servingOf(services, actor, modelAt(serving, step))
        return decide(asked, begun, caller, step)
      })
      return { ...decision, step: place.step, next_step }
    }
    case 'end_episode':
      return { ended: await endEpisode(database.query, owner, readEpisodeId(given)) }
  }
}

function modelAt({ found }: Serving, { version }: EpisodeCall): string {
  return `${found.name}@${version}`
}

/** Calls the agent; within an episode with what it remembers, under the id of that step. */
async function decide(
  { observation, mask: action_mask }: ReturnType<typeof askedOf>,
  serving: Serving,
  { services, actor, maxPriceMinor, signal }: Caller,
  { state, key }: Partial<EpisodeCall> = {},
): Promise<Decided> {
  const { found, version, spaces } = serving
  const request = { version, observation, action_mask, state }
  const call = await callAgent(services, { actor, name: found.name, maxPriceMinor, key, request }, signal)
  return { decision: mcpDecision(answerOf(call, spaces), mcpAgentOf(serving)), state: call.state }
}

/** What the agent answers, or what a call is refused for. */
async function resultOf({ log }: HostingServices, c: Context<Env>, answer: () => Promise<Record<string, unknown>>) {
  try {
    return mcpResult(await answer())
  } catch (error) {
    const failure = error instanceof AgentGymError ? error : new AgentGymError(faultReport(log, c, error))
    return { isError: true, content: [{ type: 'text' as const, text: mcpFailure(failure) }] }
  }
}

/** A hosted agent as a tool of MCP, over streamable HTTP, at an address of its own. */
export function mcpRoutes(services: HostingServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  // For documentation only: MCP's own handler reads the body, and answers in its own format.
  routes.openAPIRegistry.registerPath(mcpRoute)
  const rules = declare({ access: 'agents:call', timeoutMs: 45_000, bodyLimit: 512 * 1024 })
  routes.all('/mcp/:scope/:name', rules, async (c) => {
    const { scope, name } = c.req.param()
    const { fetch } = createMcpHandler(await serverOf(services, c, `${scope}/${name}`), { legacy: 'stateless' })
    if (c.req.method !== 'POST') return fetch(c.req.raw)
    const { url, method, headers, signal } = c.req.raw
    const body = await c.req.text()
    return fetch(new Request(url, { method, headers, signal, body }), { parsedBody: withArguments(parseJson(body)) })
  })
  return routes
}
