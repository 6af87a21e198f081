import { randomUUID } from 'node:crypto'
import {
  AgentGymError,
  chatRequestSchema,
  decisionRequestSchema,
  errorCatalog,
  hostedCallRequestSchema,
  responseRequestSchema,
  systemOneRequestSchema,
} from '@agentgym/contract'
import {
  type AgentAnswer,
  type Chosen,
  chatChunks,
  chatCompletion,
  chosen,
  decisionOf,
  inputHistory,
  jsonOf,
  legalWords,
  maskOfWords,
  type Offer,
  observedText,
  openAiErrorBody,
  type Question,
  questionCalls,
  readDecision,
  readSystemOne,
  requestInvalid,
  responseEvents,
  responseOf,
  systemOneOf,
} from '@agentgym/contract/protocols'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { isFinished, type ToolPolicyRules } from '../adapters/tool-policy.ts'
import type { ActOptions, Agent } from '../agent.ts'
import { type AgentMetrics, agentMetrics } from './agent-metrics.ts'
import { chatDialect } from './chat-dialect.ts'
import type { Dialect } from './dialect.ts'
import { type Episodes, episodesAt } from './episodes.ts'
import { answerTogether, eventStream, type JointAnswer, type ServedChoice } from './joint-turn.ts'
import { LanguageModel, type LanguageModelOptions } from './language-model.ts'
import { mcpEndpoint, mcpServers } from './mcp-endpoint.ts'
import { checkKey } from './own-server.ts'
import { responseDialect } from './response-dialect.ts'
import { type AskedServedAgent, asAnswer, findAgent, type ServedAgent } from './served-agents.ts'

export type AgentServerOptions = {
  /** Clients must send it as a bearer token. Absent: everyone who reaches the server may call. */
  key?: string
  /** Where episodes of agents with memory are kept for MCP. Default: in `AGENTGYM_HOME`. */
  episodes?: Episodes
  /**
   * Writes texts and the arguments that a policy does not choose, and decides by the rules. Absent: agents answer alone, and
   * without a tool to call the answer is `{"action", "label"}`.
   */
  languageModel?: LanguageModelOptions
  /** Who decides when. Without a language model, only `doneAfter` and `maxCalls` apply, the latter without its default. */
  rules?: ToolPolicyRules
  /** Called with every choice that the language model makes. Where the policy's differs is data to train on. */
  onChoice?: (choice: ServedChoice) => void
}

const keyHint = 'Send it as Authorization: Bearer KEY, or set it as the API key of the client.'
const BODY_BYTES = 8 * 2 ** 20
/** Most observations of one request. */
const MOST_OBSERVATIONS = 4_096

/** Nested no deeper than other routes take it. */
const json = hostedCallRequestSchema.shape.observation
const oneSchema = z.strictObject({
  model: z.string().optional(),
  observation: z.unknown(),
  mask: json.optional(),
  state: z.string().nullish(),
  deterministic: z.boolean().optional(),
})
const manySchema = z.strictObject({
  model: z.string().optional(),
  observations: z.array(json).min(1).max(MOST_OBSERVATIONS),
  masks: z.array(json).optional(),
  states: z.array(z.string().nullable()).optional(),
  deterministic: z.boolean().optional(),
})

/**
 * Agents behind the APIs that clients of language models speak, and behind `POST /act`, which takes many observations at once.
 * Decisions are made in this thread, one request after another: each takes microseconds.
 */
export function agentServer(agents: readonly ServedAgent[], options: AgentServerOptions = {}): Hono {
  const { key, episodes = episodesAt() } = options
  const app = new Hono()
  const metrics = agentMetrics()
  const started = Math.floor(Date.now() / 1_000)

  app.onError((error, c) => {
    const failure = error instanceof AgentGymError ? error : internal(error)
    metrics.failed(failure.code)
    const status = statusOf(failure)
    return Response.json(openAiErrorBody(failure.toReport()), { status, headers: headersOf(failure, c) })
  })
  app.notFound((c) => {
    const failure = new AgentGymError({
      code: 'endpoint_not_found',
      message: `There is no ${c.req.method} ${c.req.path}.`,
      hint: 'Routes: /v1/models, /v1/chat/completions, /v1/responses, /v1/decisions, /v1/systemone, /act, /mcp, /healthz, /metrics.',
    })
    return Response.json(openAiErrorBody(failure.toReport()), { status: 404 })
  })
  app.get('/healthz', (c) => c.json({ status: 'ok', models: agents.map(({ name }) => name) }))
  app.use(async (c, next) => {
    if (key !== undefined) checkKey(c.req.header('authorization'), key, keyHint)
    await next()
  })
  app.use(bodyLimit({ maxSize: BODY_BYTES, onError: tooLarge }))

  app.get('/metrics', async (c) => c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }))
  app.get('/v1/models', (c) => {
    const data = agents.map(({ name }) => ({ id: name, object: 'model', created: started, owned_by: ownerOf(name) }))
    return c.json({ object: 'list', data })
  })
  addConversationRoutes(app, agents, metrics, options)
  addDecisionRoutes(app, agents, metrics)
  addActRoute(app, agents, metrics)
  const mcp = mcpEndpoint(mcpServers(agents, { episodes, metrics, key }), { key })
  app.all('/mcp', (c) => mcp.fetch(c.req.raw))
  return app
}

/** The routes of clients of language models. */
function addConversationRoutes(
  app: Hono,
  agents: readonly ServedAgent[],
  metrics: AgentMetrics,
  { languageModel: settings, rules = {}, onChoice }: AgentServerOptions,
): void {
  const languageModel = settings && new LanguageModel(settings)

  async function answered<Request extends { model: string; tool_choice?: unknown }>(
    dialect: Dialect<Request>,
    request: Request,
    served: AskedServedAgent,
    signal: AbortSignal,
  ): Promise<JointAnswer> {
    // A language model's turns are no decisions of the agent.
    if (languageModel !== undefined) refuseStatelessMemory(served.agent)
    const parts = { dialect, request, ...served, rules, signal, metrics, onChoice }
    if (languageModel !== undefined) return answerTogether({ ...parts, languageModel })
    const observation = dialect.observationOf(request, served.spaces)
    const offer = dialect.offerOf(request)
    const history = served.agent.remembers ? dialect.historyOf(request, served.spaces) : []
    return { answer: metrics.timed(dialect.name, served.name, () => answerTo(served, { observation, history }, offer)) }
  }

  app.post('/v1/chat/completions', async (c) => {
    const request = withoutCallsAtEnd(chatDialect, await read(c, chatRequestSchema))
    const served = findAgent(agents, request.model)
    const given = await answered(chatDialect, request, served, c.req.raw.signal)
    if ('response' in given) return given.response
    const parts = { request, id: randomUUID(), model: served.model, agent: served.spaces, now: new Date() }
    const completion = chatCompletion({ ...parts, ...given, observed: observedText(request) })
    return request.stream ? eventStream(chatChunks(completion, request)) : c.json(completion)
  })

  app.post('/v1/responses', async (c) => {
    const request = withoutCallsAtEnd(responseDialect, await read(c, responseRequestSchema))
    const served = findAgent(agents, request.model)
    const given = await answered(responseDialect, request, served, c.req.raw.signal)
    if ('response' in given) return given.response
    const id = randomUUID().replaceAll('-', '')
    const response = responseOf({ request, id, model: served.model, agent: served.spaces, now: new Date(), ...given })
    return request.stream ? eventStream(responseEvents(response)) : c.json(response)
  })

  /** Where a rule ends the work, an agent alone calls no tool, either. */
  function withoutCallsAtEnd<Request>(dialect: Dialect<Request>, request: Request): Request {
    if (languageModel !== undefined) return request
    const isOver = isFinished({ maxCalls: Number.POSITIVE_INFINITY, ...rules }, dialect.callsOf(request))
    return isOver ? { ...request, tool_choice: 'none' } : request
  }
}

/** The routes of clients of decision models. */
function addDecisionRoutes(app: Hono, agents: readonly ServedAgent[], metrics: AgentMetrics): void {
  app.post('/v1/decisions', async (c) => {
    const request = await read(c, decisionRequestSchema)
    const served = findAgent(agents, request.model)
    const { observation, questions } = readDecision(request, served.spaces)
    const history = served.agent.remembers ? inputHistory(request.input, served.spaces) : []
    const asked = { observation, history }
    const answers = metrics.timed('decisions', served.name, () => choose(served, asked, questions))
    return c.json(decisionOf(request, served.model, answers))
  })

  app.post('/v1/systemone', async (c) => {
    const request = await read(c, systemOneRequestSchema)
    const served = findAgent(agents, request.model)
    refuseStatelessMemory(served.agent)
    const { observation, questions } = readSystemOne(request, served.spaces)
    const asked = { observation, history: [] }
    const answers = metrics.timed('systemone', served.name, () => choose(served, asked, questions))
    return c.json(systemOneOf(request, served.model, answers))
  })
}

/** One observation, or many at once. */
function addActRoute(app: Hono, agents: readonly ServedAgent[], metrics: AgentMetrics): void {
  app.post('/act', async (c) => {
    const body = await readJson(c)
    if (typeof body === 'object' && body !== null && 'observations' in body) {
      const { model, observations, masks, states, deterministic } = parsed(manySchema, body)
      const served = findAgent(agents, model)
      const said = masks?.map((mask) => mask ?? undefined)
      const act = () => served.agent.actBatch(observations, { masks: said, states, deterministic })
      return c.json({ model: served.model, decisions: metrics.timed('act', served.name, act, observations.length) })
    }
    const { model, observation, mask, ...options } = parsed(oneSchema, body)
    const served = findAgent(agents, model)
    // In JSON, null is what says nothing.
    const act = () => served.agent.act(jsonOf(observation, 'observation'), { ...options, mask: mask ?? undefined })
    const decision = metrics.timed('act', served.name, act)
    return c.json({ model: served.model, ...decision })
  })
}

/** An observation, and those before it that an agent with memory had in the same conversation. */
type Asked = { observation: unknown; history: readonly unknown[] }

function answerTo({ agent, spaces }: AskedServedAgent, { observation, history }: Asked, offer: Offer): AgentAnswer {
  const legal = legalWords(offer, spaces.action)
  const mask = legal === null ? undefined : maskOfWords(spaces.action, legal)
  return asAnswer(agent.act(observation, { mask, state: remembered(agent, history, mask) }))
}

function choose(
  { agent, spaces }: AskedServedAgent,
  { observation, history }: Asked,
  questions: readonly Question[],
): Chosen[] {
  return questionCalls(observation, questions, spaces).map((call, i) => {
    const state = call && remembered(agent, history, call.mask)
    const answer = call && asAnswer(agent.act(call.observation, { mask: call.mask, state }))
    return chosen(questions[i], answer, spaces)
  })
}

/** What the agent remembers of earlier observations. Memory does not depend on masks. */
function remembered(agent: Agent, history: readonly unknown[], mask: ActOptions['mask']): string | null {
  let state: string | null = null
  for (const observation of history) state = agent.act(observation, { mask, state }).state
  return state
}

/** Where a protocol has no place for what an agent remembers, or others have answered as well. */
function refuseStatelessMemory(agent: Agent): void {
  if (agent.remembers)
    throw requestInvalid('model', 'this agent remembers earlier observations: use POST /act with its `state`')
}

async function read<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  return parsed(schema, await readJson(c))
}

async function readJson(c: Context): Promise<unknown> {
  try {
    return JSON.parse(await c.req.text())
  } catch (error) {
    if (error instanceof AgentGymError) throw error
    throw new AgentGymError({ code: 'request_invalid', message: 'The body is not valid JSON.' })
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw requestInvalid(issue.path.map(String).join('.') || 'body', issue.message)
}

/** Of the language model's server, its own. */
function statusOf({ code, data }: AgentGymError): number {
  return code === 'language_model_failed' && typeof data.status === 'number' ? data.status : errorCatalog[code].status
}

function headersOf(failure: AgentGymError, c: Context): Record<string, string> {
  if (failure.code === 'unauthenticated') return { 'www-authenticate': `Bearer realm="${new URL(c.req.url).host}"` }
  const { retry_after } = failure.data
  return typeof retry_after === 'string' ? { 'retry-after': retry_after } : {}
}

function tooLarge(): never {
  throw new AgentGymError({
    code: 'request_too_large',
    message: `The body is larger than ${BODY_BYTES} bytes.`,
    hint: 'Send fewer observations at once.',
    data: { limit_bytes: BODY_BYTES },
  })
}

function ownerOf(name: string): string {
  return /^@([^/]+)\//.exec(name)?.[1] ?? 'local'
}

function internal(cause: unknown): AgentGymError {
  console.error(cause)
  return new AgentGymError({ code: 'internal_error', message: 'The server failed; its log says why.' }, { cause })
}
