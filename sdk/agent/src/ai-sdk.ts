import { chosen, type Question, questionCalls } from '@agentgym/contract/protocols'
import type {
  Experimental_DecisionModelV4Answer as DecisionAnswer,
  Experimental_DecisionModelV4 as DecisionModel,
} from '@ai-sdk/provider'
import type { ModelMessage, PrepareStepFunction, ToolSet } from 'ai'
import { isSure, rankTools, readObservation, refuseMemory, type ToolPolicyOptions } from './adapters/tool-policy.ts'
import type { Agent } from './agent.ts'

export type { RankedTools, ToolChoice, ToolPolicyOptions } from './adapters/tool-policy.ts'

/**
 * An agent as a decision model of AI SDK 7, for `experimental_decide`. The state is the observation: JSON, or text. A question
 * with an option that the agent does not know is refused, and so are all questions but choices.
 */
export function decisionModel(agent: Agent): DecisionModel {
  refuseMemory(agent)
  const { scenario } = agent.manifest
  return {
    specificationVersion: 'v4',
    provider: 'agentgym',
    modelId: agent.package?.name ?? scenario.name,
    supportedQuestionTypes: ['choice'],
    async doDecide({ state, questions }) {
      const json = state.find((part) => part.type === 'json')
      const text = state.map((part) => (part.type === 'text' ? part.text : '')).join('')
      const observation = json === undefined ? readObservation(agent, text) : json.value
      const asked = Object.entries(questions).map(([name, question]): Question => {
        return { name, words: question.type === 'choice' ? Object.keys(question.criteria) : null }
      })
      const answers: Record<string, DecisionAnswer> = {}
      for (const [i, call] of questionCalls(observation, asked, scenario).entries()) {
        const decision = call && agent.act(call.observation, { mask: call.mask })
        const answer = decision && {
          action: null,
          label: decision.label,
          probabilities: decision.choices?.map(({ probability }) => probability) ?? null,
        }
        answers[asked[i].name] = decisionAnswer(chosen(asked[i], answer, scenario))
      }
      return { answers, warnings: [] }
    },
  }
}

function decisionAnswer(answer: ReturnType<typeof chosen>): DecisionAnswer {
  if (answer === null) return { type: 'refusal' }
  const { choice, probabilities } = answer
  return {
    type: 'choice',
    choice,
    probabilities: Object.fromEntries(probabilities.map((p) => [p.value, p.probability])),
  }
}

/**
 * `prepareStep` of AI SDK 7's `generateText` and `streamText`: leaves the language model the policy's likeliest tool, or the
 * `keep` likeliest ones, so that it writes the arguments only. `mode: 'pick'` is the same as `narrow` with `keep: 1`, because a
 * step always asks the language model.
 */
export function prepareToolStep<Tools extends ToolSet>(
  tools: Tools,
  options: ToolPolicyOptions<readonly ModelMessage[]>,
): PrepareStepFunction<Tools> {
  const { agent, mode = 'pick', keep = 1, threshold, otherTools, isDone, onChoice } = options
  refuseMemory(agent)
  const names = Object.keys(tools)
  const observe = options.observe ?? ((messages: readonly ModelMessage[]) => readObservation(agent, lastText(messages)))
  return ({ messages }) => {
    if (isDone?.(messages)) return { activeTools: [], toolChoice: 'none' }
    const observation = observe(messages)
    const policy = rankTools(agent, observation, names, otherTools)
    onChoice?.({ policy, model: null, observation })
    if (policy === null || mode === 'advise' || !isSure(policy, threshold)) return {}
    // What was ranked are names of these tools.
    const kept = (mode === 'pick' ? [policy.tool] : policy.ranked.slice(0, keep)) as Extract<keyof Tools, string>[]
    // Named, as some models call another tool although only one is active.
    return { activeTools: kept, toolChoice: kept.length === 1 ? { type: 'tool', toolName: kept[0] } : 'required' }
  }
}

/** Of the last message from the user or a tool. */
function lastText(messages: readonly ModelMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'user' || role === 'tool')?.content ?? ''
  if (typeof content === 'string') return content
  const texts = content.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type !== 'tool-result') return ''
    const { output } = part
    return output.type === 'text' ? output.value : output.type === 'json' ? JSON.stringify(output.value) : ''
  })
  return texts.at(-1) ?? ''
}
