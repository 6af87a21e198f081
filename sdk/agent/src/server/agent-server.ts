import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { AgentGymError, chatRequestSchema, errorCatalog, responseRequestSchema } from '@agentgym/contract'
import {
  type AgentAnswer,
  type AskedAgent,
  type Chosen,
  chatChunks,
  chatCompletion,
  chosen,
  decisionOf,
  decisionRequestSchema,
  legalWords,
  maskOfWords,
  type Offer,
  observationOf,
  observedText,
  offerOfChat,
  offerOfResponse,
  openAiErrorBody,
  type Question,
  questionCalls,
  readDecision,
  readSystemOne,
  requestInvalid,
  responseEvents,
  responseObservation,
  responseOf,
  systemOneOf,
  systemOneRequestSchema,
} from '@agentgym/contract/protocols'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import type { Agent, Decision } from '../agent.ts'
import { type AgentMetrics, agentMetrics } from './agent-metrics.ts'

export type ServedAgent = {
  /** What clients pass as `model`; with `@version` behind it they may pass that version. */
  name: string
  version: string | null
  agent: Agent
}

export type AgentServerOptions = {
  /** Clients must send it as a bearer token. Absent: everyone who reaches the server may call. */
  key?: string
}

const BODY_BYTES = 8 * 2 ** 20
/** Most observations of one request. */
const MOST_OBSERVATIONS = 4_096

const oneSchema = z.strictObject({
  model: z.string().optional(),
  observation: z.unknown(),
  mask: z.unknown().optional(),
  state: z.string().nullish(),
  deterministic: z.boolean().optional(),
})
const manySchema = z.strictObject({
  model: z.string().optional(),
  observations: z.array(z.unknown()).min(1).max(MOST_OBSERVATIONS),
  masks: z.array(z.unknown()).optional(),
  states: z.array(z.string().nullable()).optional(),
  deterministic: z.boolean().optional(),
})

/**
 * Agents behind the APIs that clients of language models speak, and behind `POST /act`, which takes many observations at once.
 * Decisions are made in this thread, one request after another: each takes microseconds.
 */
export function agentServer(agents: readonly ServedAgent[], { key }: AgentServerOptions = {}): Hono {
  const app = new Hono()
  const metrics = agentMetrics()
  const started = Math.floor(Date.now() / 1_000)

  app.onError((error, c) => {
    const failure = error instanceof AgentGymError ? error : internal(error)
    metrics.failed(failure.code)
    const { status } = errorCatalog[failure.code]
    return Response.json(openAiErrorBody(failure.toReport()), { status, headers: challenge(status, c) })
  })
  app.notFound((c) => {
    const failure = new AgentGymError({
      code: 'endpoint_not_found',
      message: `There is no ${c.req.method} ${c.req.path}.`,
      hint: 'Routes: /v1/models, /v1/chat/completions, /v1/responses, /v1/decisions, /v1/systemone, /act, /healthz, /metrics.',
    })
    return Response.json(openAiErrorBody(failure.toReport()), { status: 404 })
  })
  app.get('/healthz', (c) => c.json({ status: 'ok', models: agents.map(({ name }) => name) }))
  app.use(async (c, next) => {
    if (key !== undefined) checkKey(c.req.header('authorization'), key)
    await next()
  })
  app.use(bodyLimit({ maxSize: BODY_BYTES, onError: tooLarge }))

  app.get('/metrics', async (c) => c.text(await metrics.text(), 200, { 'content-type': metrics.contentType }))
  app.get('/v1/models', (c) => {
    const data = agents.map(({ name }) => ({ id: name, object: 'model', created: started, owned_by: ownerOf(name) }))
    return c.json({ object: 'list', data })
  })
  addLanguageModelRoutes(app, agents, metrics)
  addActRoute(app, agents, metrics)
  return app
}

/** The routes of clients of language models. */
function addLanguageModelRoutes(app: Hono, agents: readonly ServedAgent[], metrics: AgentMetrics): void {
  app.post('/v1/chat/completions', async (c) => {
    const request = await read(c, chatRequestSchema)
    const served = findAgent(agents, request.model)
    const observed = observedText(request)
    const observation = observationOf(observed, served.spaces.observation, 'messages')
    const answer = metrics.timed('chat', served.name, () => answerTo(served, observation, offerOfChat(request)))
    const parts = { request, id: randomUUID(), model: served.model, answer, agent: served.spaces, observed }
    const completion = chatCompletion({ ...parts, now: new Date() })
    return request.stream ? eventStream(c, chatChunks(completion, request)) : c.json(completion)
  })

  app.post('/v1/responses', async (c) => {
    const request = await read(c, responseRequestSchema)
    const served = findAgent(agents, request.model)
    const observation = responseObservation(request, served.spaces)
    const answer = metrics.timed('responses', served.name, () =>
      answerTo(served, observation, offerOfResponse(request)),
    )
    const id = randomUUID().replaceAll('-', '')
    const response = responseOf({ request, id, model: served.model, answer, agent: served.spaces, now: new Date() })
    return request.stream ? eventStream(c, responseEvents(response)) : c.json(response)
  })

  app.post('/v1/decisions', async (c) => {
    const request = await read(c, decisionRequestSchema)
    const served = findAgent(agents, request.model)
    const { observation, questions } = readDecision(request, served.spaces)
    const answers = metrics.timed('decisions', served.name, () => choose(served, observation, questions))
    return c.json(decisionOf(request, served.model, answers))
  })

  app.post('/v1/systemone', async (c) => {
    const request = await read(c, systemOneRequestSchema)
    const served = findAgent(agents, request.model)
    const { observation, questions } = readSystemOne(request, served.spaces)
    const answers = metrics.timed('systemone', served.name, () => choose(served, observation, questions))
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
      const act = () => served.agent.actBatch(observations, { masks, states, deterministic })
      return c.json({ model: served.model, decisions: metrics.timed('act', served.name, act, observations.length) })
    }
    const { model, observation, ...options } = parsed(oneSchema, body)
    const served = findAgent(agents, model)
    const decision = metrics.timed('act', served.name, () => served.agent.act(observation, options))
    return c.json({ model: served.model, ...decision })
  })
}

/** An agent as it is asked: `model` is what responses call it. */
type Found = ServedAgent & { model: string; spaces: AskedAgent }

function findAgent(agents: readonly ServedAgent[], model: string | undefined): Found {
  const found =
    model === undefined && agents.length === 1
      ? agents[0]
      : agents.find(({ name, version }) => model === name || model === `${name}@${version}`)
  if (found !== undefined) {
    const { name, version, agent } = found
    return { ...found, model: version === null ? name : `${name}@${version}`, spaces: agent.manifest.scenario }
  }
  throw new AgentGymError({
    code: 'package_not_found',
    message:
      model === undefined
        ? 'The request names no model.'
        : `This server has no agent ${JSON.stringify(model.slice(0, 200))}.`,
    hint: `It serves ${agents.map(({ name }) => name).join(', ')}.`,
    data: { field: 'model' },
  })
}

function answerTo({ agent, spaces }: Found, observation: unknown, offer: Offer): AgentAnswer {
  refuseMemory(agent)
  const legal = legalWords(offer, spaces.action)
  return asAnswer(agent.act(observation, { mask: legal === null ? null : maskOfWords(spaces.action, legal) }))
}

function choose({ agent, spaces }: Found, observation: unknown, questions: readonly Question[]): Chosen[] {
  refuseMemory(agent)
  return questionCalls(observation, questions, spaces).map((call, i) => {
    const answer = call && asAnswer(agent.act(call.observation, { mask: call.mask }))
    return chosen(questions[i], answer, spaces)
  })
}

function asAnswer({ action, label, choices }: Decision): AgentAnswer {
  return {
    action: action as AgentAnswer['action'],
    label,
    probabilities: choices?.map(({ probability }) => probability) ?? null,
  }
}

/** These protocols have no place for what an agent remembers. */
function refuseMemory(agent: Agent): void {
  if (agent.remembers)
    throw requestInvalid('model', 'this agent remembers earlier observations: use POST /act with its `state`')
}

async function read<Schema extends z.ZodType>(c: Context, schema: Schema): Promise<z.infer<Schema>> {
  return parsed(schema, await readJson(c))
}

async function readJson(c: Context): Promise<unknown> {
  try {
    return await c.req.json()
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

function eventStream(c: Context, events: string): Response {
  return c.body(events, 200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
}

/** Compares hashes, so that the time says nothing of the key. */
function checkKey(header: string | undefined, key: string): void {
  const sent = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? ''
  const hash = (text: string) => createHash('sha256').update(text).digest()
  if (timingSafeEqual(hash(sent), hash(key))) return
  throw new AgentGymError({
    code: 'unauthenticated',
    message: 'This server needs a key.',
    hint: 'Send it as Authorization: Bearer KEY, or set it as the API key of the client.',
  })
}

function challenge(status: number, c: Context): Record<string, string> {
  return status === 401 ? { 'www-authenticate': `Bearer realm="${new URL(c.req.url).host}"` } : {}
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
