import type { ProcessInputStepArgs, ProcessInputStepResult } from '@mastra/core/processors'
import { type AiMessage, callsIn, lastText } from './adapters/ai-messages.ts'
import { callingModel } from './adapters/language-model-v4.ts'
import {
  isFinished,
  planTurn,
  readObservation,
  refuseMemory,
  requiredOf,
  type ToolPolicyOptions,
} from './adapters/tool-policy.ts'

export { toolPolicyModel } from './adapters/language-model-v4.ts'
export type { RankedTools, ToolChoice, ToolPolicyOptions } from './adapters/tool-policy.ts'

/**
 * `prepareStep` of Mastra 1.x's `agent.generate` and `agent.stream`. Where the policy is sure, its tool is called without the
 * language model; where that has to write arguments or to choose, it gets the policy's tool, or the `keep` likeliest ones.
 */
export function prepareToolStep(
  options: ToolPolicyOptions<readonly AiMessage[]>,
): (step: ProcessInputStepArgs) => ProcessInputStepResult {
  const { agent, isDone, onChoice } = options
  refuseMemory(agent)
  const observe = options.observe ?? ((messages: readonly AiMessage[]) => readObservation(agent, lastText(messages)))
  return ({ messageList, tools = {}, activeTools }) => {
    const messages: readonly AiMessage[] = messageList.get.all.aiV5.model()
    if (isDone?.(messages) || isFinished(options, callsIn(messages))) return { activeTools: [], toolChoice: 'none' }
    const observation = observe(messages)
    const offered = activeTools ?? Object.keys(tools)
    const plan = planTurn(agent, options, {
      observation,
      offered,
      required: (name) => requiredOf(schemaOf(tools[name])),
    })
    const { policy, reason } = plan
    onChoice?.({ reason, policy, model: null, observation })
    if (plan.step === 'call') return { model: callingModel(plan.policy) as never }
    if (plan.tools === null) return {}
    const kept = [...plan.tools]
    // Named, as some models call another tool although only one is active.
    return { activeTools: kept, ...(kept.length === 1 && { toolChoice: { type: 'tool', toolName: kept[0] } }) }
  }
}

/** Mastra has made a JSON schema of whatever the tool was written with. */
function schemaOf(tool: unknown): unknown {
  const { parameters, inputSchema } = Object(tool) as Record<string, { jsonSchema?: unknown } | undefined>
  return (parameters ?? inputSchema)?.jsonSchema
}
