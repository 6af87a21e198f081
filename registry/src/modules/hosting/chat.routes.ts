import { chatCompletionSchema, chatRequestSchema, hostedCallHeadersSchema, modelListSchema } from '@agentgym/contract'
import { chatChunks, chatCompletion, observationOf, observedText } from '@agentgym/contract/protocols'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { callAgent } from './call-agent.ts'
import type { HostingServices } from './call-broker.ts'
import { callableAgents, modelOf, openAiFailures, refuseMemory, spacesOf } from './chat-completions.ts'
import { callFailures } from './hosted-calls.routes.ts'

const chatRoute = defineRoute({
  method: 'post',
  path: '/v1/chat/completions',
  access: 'agents:call',
  timeoutMs: 45_000,
  failureFormat: openAiFailures,
  operationId: 'createChatCompletion',
  summary: 'Call an agent with an OpenAI-compatible client',
  description:
    'Set the client’s base URL to this server’s `/v1` and its key to a token with the scope `agents:call`. `model` is the agent. The last user or tool message is the observation: JSON, or plain text if it is not valid JSON. The response is `{"action", "label"}` as JSON, or a tool call if the action names one of `tools`. With `stream`, it is sent as server-sent events. Policies have no tokens, so `usage` counts four characters as one token. Errors have OpenAI’s format. Admission and metering are the same as for `/v1/packages/{scope}/{name}/calls`.',
  request: { headers: hostedCallHeadersSchema, body: { required: true, content: json(chatRequestSchema) } },
  responses: {
    200: {
      description: 'The action of the agent.',
      content: {
        ...json(chatCompletionSchema),
        'text/event-stream': { schema: z.any().openapi({ type: 'string' }) },
      },
    },
    ...callFailures,
  },
})

const modelsRoute = defineRoute({
  method: 'get',
  path: '/v1/models',
  access: 'agents:call',
  failureFormat: openAiFailures,
  operationId: 'listModels',
  summary: 'List the agents you can call',
  description: 'Agents that you or your organizations own or bought, sorted by name; at most 100. In OpenAI’s format.',
  responses: {
    200: { description: 'Agents.', content: json(modelListSchema) },
    ...failures('unauthenticated', 'forbidden'),
  },
})

/** The same calls for clients of OpenAI's API. */
export function chatRoutes(services: HostingServices): OpenAPIHono<Env> {
  const { query } = services.database
  const routes = createRoutes()
  routes.openapi(chatRoute, async (c) => {
    const request = c.req.valid('json')
    const { name, version } = modelOf(request)
    const observed = observedText(request)
    const { 'idempotency-key': key, 'agentgym-max-price': maxPriceMinor } = c.req.valid('header')
    const call = await callAgent(
      services,
      {
        ...{ actor: c.get('actor'), name, key, maxPriceMinor },
        request: { version, observation: null },
        observe: async (versionId) => {
          const agent = await spacesOf(query, { versionId })
          refuseMemory(agent)
          return observationOf(observed, agent?.observation, 'messages')
        },
      },
      c.req.raw.signal,
    )
    const spaces = request.tools?.length ? await spacesOf(query, call) : undefined
    const completion = chatCompletion({
      ...{ request, id: call.id, model: `${call.package}@${call.version}`, answer: call, observed, now: new Date() },
      agent: spaces ?? { action: { type: 'dict', entries: [] } },
    })
    if (request.stream !== true) return c.json(completion, 200)
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' }
    return c.body(chatChunks(completion, request), 200, headers)
  })
  routes.openapi(modelsRoute, async (c) => {
    const { accountId } = c.get('actor')
    const data = (await callableAgents(query, accountId)).map(({ name, owner, created_at }) => ({
      ...{ id: name, object: 'model' as const, owned_by: owner },
      created: Math.floor(created_at.getTime() / 1_000),
    }))
    return c.json({ object: 'list' as const, data }, 200)
  })
  return routes
}
