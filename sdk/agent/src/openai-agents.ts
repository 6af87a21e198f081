import { randomUUID } from 'node:crypto'
import { type AgentInputItem, type Model, type ModelProvider, type ModelRequest, Usage } from '@openai/agents-core'
import {
  isFinished,
  type Plan,
  planTurn,
  type RankedTools,
  readObservation,
  refuseMemory,
  requiredOf,
  type ToolPolicyOptions,
} from './adapters/tool-policy.ts'

export type { RankedTools, ToolChoice, ToolPolicyOptions } from './adapters/tool-policy.ts'

/** An item of a response: its type differs between whole and streamed ones. */
type Item = { type?: string }
type Options = ToolPolicyOptions<AgentInputItem[]>

/**
 * A `Model` of OpenAI's Agents SDK in which a trained policy picks the tools, and `model` does the rest: it writes texts and the
 * arguments that the policy does not choose, and decides where the policy leaves it to. Handoffs are tools, too: name those that
 * the policy may ignore in `otherTools`.
 */
export function toolPolicyModel(options: Options & { model: Model }): Model {
  const { agent, model } = options
  refuseMemory(agent)
  const retryAdvice = model.getRetryAdvice?.bind(model)
  return {
    ...(retryAdvice && { getRetryAdvice: retryAdvice }),
    async getResponse(request) {
      const planned = planRequest(options, request)
      // The policy makes no tokens.
      if ('tool' in planned) return { usage: new Usage(), output: [callOf(planned.tool)] }
      const response = await model.getResponse(planned.request)
      const output = response.output.map(planned.with)
      planned.report(callsIn(response.output))
      return { ...response, output }
    },
    async *getStreamedResponse(request) {
      const planned = planRequest(options, request)
      if ('tool' in planned) {
        const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
        yield { type: 'response_started' }
        yield { type: 'response_done', response: { id: `resp_${id()}`, usage, output: [callOf(planned.tool)] } }
        return
      }
      for await (const event of model.getStreamedResponse(planned.request)) {
        if (event.type !== 'response_done') {
          yield event
          continue
        }
        planned.report(callsIn(event.response.output))
        yield { ...event, response: { ...event.response, output: event.response.output.map(planned.with) } }
      }
    },
  }
}

/** A `ModelProvider` whose models are those of `provider`, with the policy in front of each. */
export function toolPolicyProvider({ provider, ...options }: Options & { provider: ModelProvider }): ModelProvider {
  refuseMemory(options.agent)
  return { getModel: async (name) => toolPolicyModel({ ...options, model: await provider.getModel(name) }) }
}

type Planned =
  | { tool: RankedTools }
  | { request: ModelRequest; with<Each extends Item>(item: Each): Each; report(called: string[]): void }

function planRequest(options: Options, request: ModelRequest): Planned {
  const { agent, isDone, onChoice, observe } = options
  const { tools, handoffs, modelSettings } = request
  const input: AgentInputItem[] =
    typeof request.input === 'string' ? [{ role: 'user', content: request.input }] : request.input
  const offered = [...tools.map(({ name }) => name), ...handoffs.map(({ toolName }) => toolName)]
  const { toolChoice = 'auto' } = modelSettings
  const free = { request, with: <Each extends Item>(item: Each) => item, report: () => {} }
  if (offered.length === 0 || toolChoice === 'none') return free
  const forTools = (choice: string, kept: readonly string[] | null): ModelRequest => ({
    ...request,
    ...(kept && { tools: tools.filter(({ name }) => kept.includes(name)) }),
    ...(kept && { handoffs: handoffs.filter(({ toolName }) => kept.includes(toolName)) }),
    modelSettings: { ...modelSettings, toolChoice: choice },
  })
  if (isDone?.(input) || isFinished(options, callsIn(sinceUser(input))))
    return { ...free, request: forTools('none', null) }
  const observation = observe ? observe(input) : readObservation(agent, lastText(input))
  const required = (name: string) => {
    const tool = tools.find((each) => each.name === name)
    return requiredOf(tool?.type === 'function' ? tool.parameters : undefined)
  }
  const isForced = offered.includes(toolChoice)
  const plan = planTurn(agent, options, { observation, offered: isForced ? [toolChoice] : offered, required })
  const { policy, reason } = plan
  const report = (model: string[] | null) => onChoice?.({ reason, policy, model, observation })
  if (plan.step === 'call') {
    report(null)
    return { tool: plan.policy }
  }
  const { tools: kept } = plan
  const narrowed = kept === null ? request : forTools(kept.length === 1 ? kept[0] : toolChoice, kept)
  return { request: narrowed, with: (item) => withArguments(item, plan), report }
}

function withArguments<Each extends Item>(item: Each, { policy, reason }: Plan): Each {
  const { type, name, arguments: given } = item as { type?: string; name?: string; arguments?: string }
  if (policy === null || reason !== 'arguments' || type !== 'function_call' || name !== policy.tool) return item
  return { ...item, arguments: JSON.stringify({ ...JSON.parse(given || '{}'), ...policy.arguments }) }
}

function callOf({ tool, arguments: given }: RankedTools) {
  const [type, status] = ['function_call' as const, 'completed' as const]
  return { type, callId: `call_${id()}`, name: tool, arguments: JSON.stringify(given), status }
}

function sinceUser(input: AgentInputItem[]): AgentInputItem[] {
  return input.slice(input.findLastIndex((item) => 'role' in item && item.role === 'user') + 1)
}

function callsIn(items: readonly { type?: string; name?: unknown }[]): string[] {
  return items.flatMap(({ type, name }) => (type === 'function_call' && typeof name === 'string' ? [name] : []))
}

/** Of the last message from the user or result of a tool. */
function lastText(input: AgentInputItem[]): string {
  const last = input.findLast(
    (item) => item.type === 'function_call_result' || ('role' in item && item.role === 'user'),
  )
  if (last === undefined) return ''
  const content = last.type === 'function_call_result' ? last.output : 'content' in last ? last.content : ''
  if (typeof content === 'string') return content
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  return parts.map((part) => (Object(part) as { text?: string }).text ?? '').join('')
}

function id(): string {
  return randomUUID().replaceAll('-', '')
}
