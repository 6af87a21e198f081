import { randomUUID } from 'node:crypto'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { AIMessage, type BaseMessage, createMiddleware, HumanMessage, ToolMessage } from 'langchain'
import {
  isFinished,
  planTurn,
  type RankedTools,
  readObservation,
  refuseMemory,
  requiredOf,
  type ToolPolicyOptions,
} from './adapters/tool-policy.ts'

export type { RankedTools, ToolChoice, ToolPolicyOptions } from './adapters/tool-policy.ts'

/**
 * Middleware for `createAgent` of LangChain 1.x with which a trained policy picks the tools. The language model writes texts and
 * the arguments that the policy does not choose; it chooses tools itself only where the policy is not sure or does not know them.
 */
export function toolPolicyMiddleware(options: ToolPolicyOptions<BaseMessage[]>) {
  const { agent, isDone, onChoice } = options
  refuseMemory(agent)
  const observe = options.observe ?? ((messages: BaseMessage[]) => readObservation(agent, lastText(messages)))
  return createMiddleware({
    name: 'ToolPolicy',
    wrapModelCall: async (request, handler) => {
      const { messages, tools } = request
      if (isDone?.(messages) || isFinished(options, callsIn(messages)))
        return handler({ ...request, tools: [], toolChoice: 'none' })
      const observation = observe(messages)
      const required = (name: string) => requiredOf(schemaOf(tools.find((tool) => nameOf(tool) === name)))
      const plan = planTurn(agent, options, { observation, offered: tools.map(nameOf), required })
      const { policy, reason } = plan
      if (plan.step === 'call') {
        onChoice?.({ reason, policy, model: null, observation })
        return callOf(plan.policy)
      }
      const answer = await handler(plan.tools === null ? request : narrowed(request, plan.tools))
      const calls = AIMessage.isInstance(answer) ? (answer.tool_calls ?? []) : []
      onChoice?.({ reason, policy, model: calls.map(({ name }) => name), observation })
      if (policy !== null && reason === 'arguments')
        for (const call of calls) if (call.name === policy.tool) call.args = { ...call.args, ...policy.arguments }
      return answer
    },
  })
}

/** The request with these tools alone; where it is one, that must be called. */
function narrowed<Tool extends object, Request extends { tools: Tool[] }>(request: Request, kept: readonly string[]) {
  const tools = request.tools.filter((tool) => kept.includes(nameOf(tool)))
  // Named, as some models call another tool although only one is offered.
  const toolChoice = { type: 'function' as const, function: { name: kept[0] } }
  return { ...request, tools, ...(kept.length === 1 && { toolChoice }) }
}

function callOf({ tool, arguments: args }: RankedTools): AIMessage {
  const id = `call_${randomUUID().replaceAll('-', '')}`
  return new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id, name: tool, args }] })
}

/** Tools that were called since the user's last message. */
function callsIn(messages: readonly BaseMessage[]): string[] {
  const turn = messages.slice(messages.findLastIndex((message) => HumanMessage.isInstance(message)) + 1)
  return turn.flatMap((message) =>
    AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(({ name }) => name) : [],
  )
}

/** Of the last message from the user or a tool. */
function lastText(messages: readonly BaseMessage[]): string {
  const last = messages.findLast((message) => HumanMessage.isInstance(message) || ToolMessage.isInstance(message))
  return last?.text ?? ''
}

function nameOf(tool: object): string {
  const { name, function: called } = tool as { name?: unknown; function?: { name?: unknown } }
  return String(name ?? called?.name)
}

/** The JSON schema of a tool's parameters; undefined for what a provider runs itself. */
function schemaOf(tool: object | undefined): unknown {
  if (tool === undefined) return undefined
  if ('schema' in tool)
    return convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]).function.parameters
  return (tool as { function?: { parameters?: unknown } }).function?.parameters
}
