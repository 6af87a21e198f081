import { AgentGymError } from '@agentgym/contract'
import {
  type AgentAnswer,
  type AskedAgent,
  type Offer,
  type TokenUsage,
  tokensIn,
  toolNames,
  wordsOf,
} from '@agentgym/contract/protocols'
import {
  type ChoiceReason,
  isFinished,
  type Plan,
  planTurn,
  type RankedTools,
  requiredOf,
  type ToolPolicyRules,
} from '../adapters/tool-policy.ts'
import type { Agent } from '../agent.ts'
import type { AgentMetrics } from './agent-metrics.ts'
import type { Dialect, Heard } from './dialect.ts'
import { failed, type LanguageModel } from './language-model.ts'

/** A choice of the language model beside the policy's: a line of the log. */
export type ServedChoice = {
  time: string
  agent: string
  /** `unreadable`: the last message is no observation of the agent. */
  reason: Exclude<ChoiceReason, 'sure' | 'arguments'> | 'unreadable'
  observation: unknown
  policy: RankedTools | null
  language_model: { model: string; calls: Heard['calls'] }
  /** Whether the language model called the policy's tool; null where the policy chose none. */
  agree: boolean | null
}

/** What both need of one request. */
export type JointTurn<Request> = {
  dialect: Dialect<Request>
  request: Request & { stream?: boolean | null }
  agent: Agent
  spaces: AskedAgent
  /** What clients call the agent, and how metrics do. */
  model: string
  name: string
  rules: ToolPolicyRules
  languageModel: LanguageModel
  /** Aborted when the client has gone. */
  signal: AbortSignal
  metrics: AgentMetrics
  onChoice?: (choice: ServedChoice) => void
}

/** The policy's own answer, which is yet to be worded, or the language model's, as the client gets it. */
export type JointAnswer = { answer: AgentAnswer; also?: TokenUsage } | { response: Response }

type LeftToModel = Exclude<JointPlan, { step: 'call' } | { reason: 'arguments' }>

type JointPlan =
  | Plan
  | { step: 'ask'; reason: 'text' | 'done'; policy: null; tools: 'none' }
  | { step: 'ask'; reason: 'unreadable'; policy: null; tools: null }

/**
 * One turn of a conversation that a policy and a language model have together: the policy picks the tool, the language model
 * writes texts and the arguments that the policy does not choose, and decides where the policy leaves it to.
 */
export async function answerTogether<Request>(turn: JointTurn<Request>): Promise<JointAnswer> {
  const { dialect, request, spaces } = turn
  const observation = readable(() => dialect.observationOf(request, spaces))
  const plan = turn.metrics.timed(dialect.name, turn.name, () => planOf(turn, observation))
  if (plan.step === 'call') return { answer: answerOf(plan.policy, plan.policy.arguments, spaces) }
  turn.metrics.askedModel(turn.name, plan.reason)
  if (plan.reason === 'arguments') return withArguments(turn, plan.policy)
  return { response: await passedOn(turn, plan, observation) }
}

function planOf<Request>(turn: JointTurn<Request>, observation: unknown): JointPlan {
  const { dialect, request, agent, rules } = turn
  const { tools, choice } = dialect.offerOf(request)
  if (tools.length === 0 || choice === 'none') return { step: 'ask', reason: 'text', policy: null, tools: 'none' }
  if (isFinished(rules, dialect.callsOf(request))) return { step: 'ask', reason: 'done', policy: null, tools: 'none' }
  const required = (tool: string) => requiredOf(dialect.parametersOf(request, tool))
  const plan =
    observation === undefined
      ? undefined
      : readable(() => planTurn(agent, rules, { observation, offered: offered(tools, choice), required }))
  return plan ?? { step: 'ask', reason: 'unreadable', policy: null, tools: null }
}

function offered(tools: readonly string[], choice: Offer['choice']): readonly string[] {
  return typeof choice === 'object' ? [choice.name] : tools
}

/** What is no observation of the agent, such as a user's words of thanks, is the language model's. */
function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    const isInput = error instanceof AgentGymError && ['observation_invalid', 'request_invalid'].includes(error.code)
    if (isInput && error.data.field !== 'previous_response_id') return undefined
    throw error
  }
}

/** The policy's tool with the arguments that the language model writes; if it declines, what it says instead. */
async function withArguments<Request>(turn: JointTurn<Request>, policy: RankedTools): Promise<JointAnswer> {
  const { dialect, request, languageModel, signal, model, spaces } = turn
  const body = dialect.forModel(request, languageModel.name, [policy.tool])
  const signature = { model, also: { input: tokensIn(dialect.textOf(request)), output: 0 } }
  const written = ({ calls, usage }: Heard): JointAnswer | undefined => {
    const call = calls.find(({ name }) => name === policy.tool)
    return call && { answer: answerOf(policy, { ...argumentsOf(call), ...policy.arguments }, spaces), also: usage }
  }
  if (request.stream !== true) {
    const answer = await languageModel.answer({ path: dialect.path, body, signal })
    return written(dialect.hear(answer)) ?? { response: Response.json(dialect.sign(answer, signature)) }
  }
  const listener = dialect.listener(request, signature)
  let said = ''
  for await (const event of await languageModel.events({ path: dialect.path, body, signal })) {
    const passed = listener.pass(event)
    if (passed !== null) said += dialect.write(passed)
  }
  if (!listener.isComplete()) throw endedEarly()
  return written(listener.heard()) ?? { response: eventStream(said + dialect.ending) }
}

/** The language model's answer as it is, but for the name of the model and the usage. */
async function passedOn<Request>(turn: JointTurn<Request>, plan: LeftToModel, observation: unknown): Promise<Response> {
  const { dialect, request, languageModel, signal, model, metrics } = turn
  const body = dialect.forModel(request, languageModel.name, plan.tools ?? 'all')
  const also = { input: plan.policy === null ? 0 : tokensIn(dialect.textOf(request)), output: 0 }
  const report = (heard: Heard) => reportChoice(turn, plan, observation, heard)
  if (request.stream !== true) {
    const answer = await languageModel.answer({ path: dialect.path, body, signal })
    report(dialect.hear(answer))
    return Response.json(dialect.sign(answer, { model, also }))
  }
  const events = await languageModel.events({ path: dialect.path, body, signal })
  const listener = dialect.listener(request, { model, also })
  async function* written() {
    try {
      for await (const event of events) {
        const passed = listener.pass(event)
        if (passed !== null) yield dialect.write(passed)
      }
      if (!listener.isComplete()) throw endedEarly()
      report(listener.heard())
      yield dialect.ending
    } catch (error) {
      // The status has been sent: the stream itself has to say it.
      if (!(error instanceof AgentGymError)) throw error
      metrics.failed(error.code)
      yield dialect.write(dialect.failure({ message: error.message, code: error.code }))
    }
  }
  return eventStream(ReadableStream.from(written()).pipeThrough(new TextEncoderStream()))
}

function reportChoice<Request>(
  { name, languageModel, onChoice }: JointTurn<Request>,
  { reason, policy }: LeftToModel,
  observation: unknown,
  { calls }: Heard,
): void {
  if (reason === 'text' || reason === 'done') return
  onChoice?.({
    ...{ time: new Date().toISOString(), agent: name, reason, observation: observation ?? null, policy },
    language_model: { model: languageModel.name, calls },
    agree: policy && calls.some((call) => call.name === policy.tool),
  })
}

function answerOf({ tool }: RankedTools, given: Record<string, unknown>, { action }: AskedAgent): AgentAnswer {
  const label = toolNames(wordsOf(action) ?? []).get(tool) ?? tool
  return { action: null, label, probabilities: null, arguments: given }
}

function argumentsOf({ name, arguments: text }: Heard['calls'][number]): Record<string, unknown> {
  try {
    const given: unknown = JSON.parse(text || '{}')
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) return { ...given }
  } catch {
    // Below, with what is no object.
  }
  throw failed(502, `wrote arguments of ${name} that are not a JSON object: ${text.slice(0, 200)}`)
}

function endedEarly(): AgentGymError {
  return failed(502, 'ended its stream before its answer was complete')
}

export function eventStream(events: string | ReadableStream<Uint8Array>): Response {
  return new Response(events, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
  })
}
