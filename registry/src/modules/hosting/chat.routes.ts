import {
  chatCompletionSchema,
  chatRequestSchema,
  type HostedCallRequest,
  hostedCallHeadersSchema,
  modelListSchema,
  responseRequestSchema,
  responseSchema,
  type SpaceDescription,
} from '@agentgym/contract'
import {
  chatChunks,
  chatCompletion,
  chatHistory,
  inputHistory,
  legalWords,
  maskOfWords,
  type Offer,
  observationOf,
  observedText,
  offerOfChat,
  offerOfResponse,
  responseEvents,
  responseObservation,
  responseOf,
} from '@agentgym/contract/protocols'
import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, failures, json } from '../../core/http/route.ts'
import { callAgent } from './call-agent.ts'
import type { HostingServices } from './call-broker.ts'
import { callableAgents, modelOf, noSpaces, openAiFailures, spacesOf } from './chat-completions.ts'
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
    'Set the client’s base URL to this server’s `/v1` and its key to a token with the scope `agents:call`. `model` is the agent. The last user or tool message is the observation: JSON, or plain text if it is not valid JSON. An agent with memory also observes, in order, what it was asked before each message of the assistant. The response is `{"action", "label"}` as JSON, or a tool call if the action names one of `tools`. With `stream`, it is sent as server-sent events. Policies have no tokens, so `usage` counts four characters as one token. Errors have OpenAI’s format. Admission and metering are the same as for `/v1/packages/{scope}/{name}/calls`.',
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

const responsesRoute = defineRoute({
  method: 'post',
  path: '/v1/responses',
  access: 'agents:call',
  timeoutMs: 45_000,
  failureFormat: openAiFailures,
  operationId: 'createResponse',
  summary: 'Call an agent with a client of the Responses API',
  description:
    'The same as chat completions, for clients that use OpenAI’s Responses API. The last user message or output of a call is the observation. The response is a `function_call` if the action is one of `tools`, or else a message. Nothing is stored: send the whole input, without `previous_response_id`. With `stream`, it is sent as server-sent events.',
  request: { headers: hostedCallHeadersSchema, body: { required: true, content: json(responseRequestSchema) } },
  responses: {
    200: {
      description: 'The action of the agent.',
      content: { ...json(responseSchema), 'text/event-stream': { schema: z.any().openapi({ type: 'string' }) } },
    },
    ...callFailures,
  },
})

/** A request of one of OpenAI's APIs, as a call of the agent. */
type Asked = {
  model: string
  offer: Offer
  observation: (agent: { observation: SpaceDescription } | undefined) => HostedCallRequest['observation']
  /** What an agent with memory observed before in the conversation. */
  history: (agent: { observation: SpaceDescription }) => HostedCallRequest['history']
}

/** Calls the agent, which picks among the tools that the request offers. Gives the call, and the agent's spaces. */
async function ask(services: HostingServices, c: AskingContext, { model, offer, observation, history }: Asked) {
  const { query } = services.database
  const { name, version } = modelOf(model)
  const { 'idempotency-key': key, 'agentgym-max-price': maxPriceMinor } = c.req.valid('header')
  const call = await callAgent(
    services,
    {
      ...{ actor: c.get('actor'), name, key, maxPriceMinor },
      request: { version, observation: null },
      observe: async (versionId) => {
        const agent = await spacesOf(query, { versionId })
        const legal = agent === undefined ? null : legalWords(offer, agent.action)
        return {
          observation: observation(agent),
          ...(agent?.remembers ? { history: history(agent) } : {}),
          ...(agent === undefined || legal === null ? {} : { action_mask: maskOfWords(agent.action, legal) }),
        }
      },
    },
    c.req.raw.signal,
  )
  // Only a call of a tool is worded by the spaces.
  const spaces = (offer.tools.length > 0 ? await spacesOf(query, call) : undefined) ?? noSpaces
  return { call, spaces, id: call.id, model: `${call.package}@${call.version}`, answer: call, now: new Date() }
}

type AskingContext = Pick<Context<Env>, 'get'> & {
  req: { raw: Request; valid(of: 'header'): z.infer<typeof hostedCallHeadersSchema> }
}

const streamHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' }

/** The same calls for clients of OpenAI's API. */
export function chatRoutes(services: HostingServices): OpenAPIHono<Env> {
  const { query } = services.database
  const routes = createRoutes()
  routes.openapi(chatRoute, async (c) => {
    const request = c.req.valid('json')
    const observed = observedText(request)
    const asked = await ask(services, c, {
      ...{ model: request.model, offer: offerOfChat(request) },
      observation: (agent) => observationOf(observed, agent?.observation, 'messages'),
      history: (agent) => chatHistory(request, agent),
    })
    const completion = chatCompletion({ ...asked, request, agent: asked.spaces, observed })
    if (request.stream !== true) return c.json(completion, 200)
    return c.body(chatChunks(completion, request), 200, streamHeaders)
  })
  routes.openapi(responsesRoute, async (c) => {
    const request = c.req.valid('json')
    const asked = await ask(services, c, {
      ...{ model: request.model, offer: offerOfResponse(request) },
      observation: (agent) => responseObservation(request, agent ?? noSpaces),
      history: (agent) => inputHistory(request.input, agent),
    })
    const response = responseOf({ ...asked, id: asked.id.replaceAll('-', ''), request, agent: asked.spaces })
    if (request.stream !== true) return c.json(response, 200)
    return c.body(responseEvents(response), 200, streamHeaders)
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
