import { randomUUID } from 'node:crypto'
import { AIMessage, type BaseMessage, createMiddleware, HumanMessage, ToolMessage } from 'langchain'
import {
  isSure,
  type RankedTools,
  rankTools,
  readObservation,
  refuseMemory,
  type ToolPolicyOptions,
} from './adapters/tool-policy.ts'

export type { RankedTools, ToolChoice, ToolPolicyOptions } from './adapters/tool-policy.ts'

/**
 * Middleware for `createAgent` of LangChain 1.x with which a trained policy picks the tools. The language model writes texts and,
 * with `mode: 'narrow'`, the arguments; it chooses tools itself only where the policy is not sure or does not know them.
 */
export function toolPolicyMiddleware(options: ToolPolicyOptions<BaseMessage[]>) {
  const { agent, mode = 'pick', keep = 1, threshold, otherTools, isDone, onChoice } = options
  refuseMemory(agent)
  const observe = options.observe ?? ((messages: BaseMessage[]) => readObservation(agent, lastText(messages)))
  return createMiddleware({
    name: 'ToolPolicy',
    wrapModelCall: async (request, handler) => {
      const { messages, tools } = request
      if (isDone?.(messages)) return handler({ ...request, tools: [], toolChoice: 'none' })
      const observation = observe(messages)
      const policy = rankTools(agent, observation, tools.map(nameOf), otherTools)
      const sure = policy !== null && isSure(policy, threshold)
      if (sure && mode === 'pick') {
        onChoice?.({ policy, model: null, observation })
        return callOf(policy)
      }
      const kept = policy?.ranked.slice(0, keep)
      const narrowed =
        sure && mode === 'narrow'
          ? { ...request, tools: tools.filter((tool) => kept?.includes(nameOf(tool))) }
          : request
      const answer = await handler(
        keep === 1 && narrowed !== request ? { ...narrowed, toolChoice: 'required' } : narrowed,
      )
      const called = AIMessage.isInstance(answer) ? (answer.tool_calls ?? []).map(({ name }) => name) : []
      onChoice?.({ policy, model: called, observation })
      return answer
    },
  })
}

function callOf({ tool, arguments: args }: RankedTools): AIMessage {
  const id = `call_${randomUUID().replaceAll('-', '')}`
  return new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id, name: tool, args }] })
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
