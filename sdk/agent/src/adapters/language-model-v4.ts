import { randomUUID } from 'node:crypto'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import { callsIn, lastText } from './ai-messages.ts'
import {
  isFinished,
  type Plan,
  planTurn,
  type RankedTools,
  readObservation,
  refuseMemory,
  requiredOf,
  type ToolPolicyOptions,
} from './tool-policy.ts'

/** The policy makes no tokens. */
const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}
const finishReason = { unified: 'tool-calls' as const, raw: undefined }

/**
 * A language model of AI SDK 7 in which a trained policy picks the tools, and `model` does the rest: it writes texts and the
 * arguments that the policy does not choose, and decides where the policy leaves it to.
 */
export function toolPolicyModel(
  options: ToolPolicyOptions<LanguageModelV4Prompt> & { model: LanguageModelV4 },
): LanguageModelV4 {
  const { agent, model } = options
  refuseMemory(agent)
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    async doGenerate(call) {
      const planned = planCall(options, call)
      if ('tool' in planned) return generated(planned.tool)
      const answer = await model.doGenerate(planned.call)
      const calls = answer.content.filter((part) => part.type === 'tool-call')
      planned.report(calls.map(({ toolName }) => toolName))
      return {
        ...answer,
        content: answer.content.map((part) => (part.type === 'tool-call' ? planned.with(part) : part)),
      }
    },
    async doStream(call) {
      const planned = planCall(options, call)
      if ('tool' in planned) return { stream: ReadableStream.from(streamed(planned.tool)) }
      const answer = await model.doStream(planned.call)
      const called: string[] = []
      const transform = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
        transform(part, controller) {
          if (part.type === 'tool-call') called.push(part.toolName)
          controller.enqueue(part.type === 'tool-call' ? planned.with(part) : part)
        },
        flush: () => planned.report(called),
      })
      return { ...answer, stream: answer.stream.pipeThrough(transform) }
    },
  }
}

/** A language model that calls the policy's tool, once: `prepareStep` may put it in place of another. */
export function callingModel(policy: RankedTools): LanguageModelV4 {
  return {
    ...{ specificationVersion: 'v4', provider: 'agentgym', modelId: 'tool-policy', supportedUrls: {} },
    doGenerate: async () => generated(policy),
    doStream: async () => ({ stream: ReadableStream.from(streamed(policy)) }),
  }
}

type PlannedCall =
  | { tool: RankedTools }
  | {
      call: LanguageModelV4CallOptions
      /** The call that the language model has written, with the arguments that the policy chose. */
      with(part: LanguageModelV4ToolCall): LanguageModelV4ToolCall
      report(called: string[]): void
    }

function planCall(options: ToolPolicyOptions<LanguageModelV4Prompt>, call: LanguageModelV4CallOptions): PlannedCall {
  const { agent, isDone, onChoice, observe } = options
  const { prompt, tools = [], toolChoice } = call
  const free = { call, with: (part: LanguageModelV4ToolCall) => part, report: () => {} }
  if (tools.length === 0 || toolChoice?.type === 'none') return free
  if (isDone?.(prompt) || isFinished(options, callsIn(prompt)))
    return { ...free, call: { ...call, toolChoice: { type: 'none' } } }
  const observation = observe ? observe(prompt) : readObservation(agent, lastText(prompt))
  const offered = toolChoice?.type === 'tool' ? [toolChoice.toolName] : tools.map(({ name }) => name)
  const required = (name: string) =>
    requiredOf(tools.flatMap((tool) => (tool.type === 'function' && tool.name === name ? tool.inputSchema : []))[0])
  const plan = planTurn(agent, options, { observation, offered, required })
  const { policy, reason } = plan
  const report = (model: string[] | null) => onChoice?.({ reason, policy, model, observation })
  if (plan.step === 'call') {
    report(null)
    return { tool: plan.policy }
  }
  return { call: narrowed(call, plan.tools), with: (part) => withArguments(part, plan), report }
}

/** The call with these tools alone; where it is one, that must be called. */
function narrowed(call: LanguageModelV4CallOptions, kept: readonly string[] | null): LanguageModelV4CallOptions {
  if (kept === null) return call
  const tools = call.tools?.filter(({ name }) => kept.includes(name))
  // Named, as some models call another tool although only one is offered.
  return { ...call, tools, ...(kept.length === 1 && { toolChoice: { type: 'tool', toolName: kept[0] } }) }
}

function withArguments(part: LanguageModelV4ToolCall, { policy, reason }: Plan): LanguageModelV4ToolCall {
  if (policy === null || reason !== 'arguments' || part.toolName !== policy.tool) return part
  return { ...part, input: JSON.stringify({ ...JSON.parse(part.input || '{}'), ...policy.arguments }) }
}

function generated(policy: RankedTools): LanguageModelV4GenerateResult {
  return { content: [callOf(policy)], finishReason, usage, warnings: [] }
}

function streamed(policy: RankedTools): LanguageModelV4StreamPart[] {
  const call = callOf(policy)
  const { toolCallId: id, toolName, input } = call
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-input-start', id, toolName },
    { type: 'tool-input-delta', id, delta: input },
    { type: 'tool-input-end', id },
    call,
    { type: 'finish', usage, finishReason },
  ]
}

function callOf({ tool, arguments: given }: RankedTools): LanguageModelV4ToolCall {
  const toolCallId = `call_${randomUUID().replaceAll('-', '')}`
  return { type: 'tool-call', toolCallId, toolName: tool, input: JSON.stringify(given) }
}
