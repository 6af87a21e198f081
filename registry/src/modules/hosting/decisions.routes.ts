import { createHash } from 'node:crypto'
import {
  decisionRequestSchema,
  decisionSchema,
  type HostedCallRequest,
  hostedCallHeadersSchema,
  systemOneRequestSchema,
  systemOneSchema,
} from '@agentgym/contract'
import {
  type AgentAnswer,
  type AskedAgent,
  type Chosen,
  chosen,
  decisionOf,
  inputHistory,
  type Question,
  questionCalls,
  readDecision,
  readSystemOne,
  requestInvalid,
  systemOneOf,
} from '@agentgym/contract/protocols'
import type { OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { requireActor } from '../../core/access/authorize.ts'
import type { Env } from '../../core/http/env.ts'
import { createRoutes, defineRoute, json } from '../../core/http/route.ts'
import { callAgent, findCallable } from './call-agent.ts'
import type { HostingServices } from './call-broker.ts'
import { answerOf, modelOf, noSpaces, openAiFailures, refuseMemory, spacesOf } from './chat-completions.ts'
import { callFailures } from './hosted-calls.routes.ts'

/** Different sets of choices in one request: each is a call of the agent, and all are open at once. */
const mostCalls = 16

const rules =
  'The choices of a question are the actions that are legal. A question is refused, never guessed, if the agent does not know one of its choices or has no probabilities; so are predicates and scores. Questions with the same choices are one call, different ones are a call each, at most 16. Admission and metering are the same as for `/v1/packages/{scope}/{name}/calls`. Errors have OpenAI’s format.'

const shared = {
  method: 'post',
  access: 'agents:call',
  timeoutMs: 45_000,
  failureFormat: openAiFailures,
} as const

const decisionRoute = defineRoute({
  ...shared,
  path: '/v1/decisions',
  operationId: 'createDecision',
  summary: 'Decide with a client of OpenAI’s Decisions API',
  description: `\`model\` is the agent, \`input\` the observation: the text of the last user message or output of a call, JSON or plain text. ${rules}`,
  request: { headers: hostedCallHeadersSchema, body: { required: true, content: json(decisionRequestSchema) } },
  responses: { 200: { description: 'An answer for each question.', content: json(decisionSchema) }, ...callFailures },
})

const systemOneRoute = defineRoute({
  ...shared,
  path: '/v1/systemone',
  operationId: 'createSystemOneDecision',
  summary: 'Decide with a client of System One',
  description: `The same decisions in System One’s form: \`state\` is the observation, and the keys of a question’s \`criteria\` its choices. ${rules}`,
  request: { headers: hostedCallHeadersSchema, body: { required: true, content: json(systemOneRequestSchema) } },
  responses: { 200: { description: 'An answer for each question.', content: json(systemOneSchema) }, ...callFailures },
})

type Asking = Pick<Context<Env>, 'get'> & {
  req: { raw: Request; valid(of: 'header'): z.infer<typeof hostedCallHeadersSchema> }
}

type Asked = { observation: unknown; questions: Question[] }
/** What an agent with memory observed before; null where a protocol has no place for it. */
type Remembered = ((agent: AskedAgent) => HostedCallRequest['history']) | null

/** Answers to the questions, in order, and the agent that gave them. */
async function decide(
  services: HostingServices,
  c: Asking,
  { model, read, remembered }: { model: string; read: (agent: AskedAgent) => Asked; remembered: Remembered },
) {
  const actor = requireActor(c.get('actor'), 'agents:call')
  const { query } = services.database
  const { name, version: range } = modelOf(model)
  const { found, row } = await findCallable(query, actor, name, range)
  const agent = await spacesOf(query, { versionId: row.id })
  if (remembered === null) refuseMemory(agent)
  const spaces = agent ?? noSpaces
  const history = agent?.remembers ? remembered?.(agent) : undefined
  const { observation, questions } = read(spaces)
  const calls = questionCalls(observation, questions, spaces)
  const masks = new Map(calls.flatMap((call) => (call === null ? [] : [[JSON.stringify(call.mask), call.mask]])))
  if (masks.size > mostCalls)
    throw requestInvalid('questions', `there are ${masks.size} different sets of choices; at most ${mostCalls}`)
  const { 'idempotency-key': key, 'agentgym-max-price': maxPriceMinor } = c.req.valid('header')
  const entries = [...masks].map(async ([text, action_mask], i): Promise<[string, AgentAnswer]> => {
    const request = { version: row.version, observation, action_mask, history } as Parameters<
      typeof callAgent
    >[1]['request']
    const call = { actor, name: found.name, request, maxPriceMinor, key: key && keyOf(key, i) }
    return [text, answerOf(await callAgent(services, call, c.req.raw.signal), agent ?? noSpaces)]
  })
  const answers = new Map(await Promise.all(entries))
  return {
    model: `${found.name}@${row.version}`,
    answers: calls.map((call, i): Chosen => {
      const answer = call === null ? undefined : answers.get(JSON.stringify(call.mask))
      return chosen(questions[i], answer ?? null, spaces)
    }),
  }
}

/** The client's key for the first call, and keys that follow from it for the others. */
function keyOf(key: string, index: number): string {
  if (index === 0) return key
  const hex = createHash('sha256').update(`${key.toLowerCase()} ${index}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Decisions of hosted agents, in both forms that clients have for them. */
export function decisionRoutes(services: HostingServices): OpenAPIHono<Env> {
  const routes = createRoutes()
  routes.openapi(decisionRoute, async (c) => {
    const request = c.req.valid('json')
    const { model, answers } = await decide(services, c, {
      model: request.model,
      read: (agent) => readDecision(request, agent),
      remembered: (agent) => inputHistory(request.input, agent),
    })
    return c.json(decisionOf(request, model, answers), 200)
  })
  routes.openapi(systemOneRoute, async (c) => {
    const request = c.req.valid('json')
    const { model, answers } = await decide(services, c, {
      ...{ model: request.model, read: (agent) => readSystemOne(request, agent), remembered: null },
    })
    return c.json(systemOneOf(request, model, answers), 200)
  })
  return routes
}
