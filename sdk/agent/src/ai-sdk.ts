import { chosen, type Question, questionCalls } from '@agentgym/contract/protocols'
import type {
  Experimental_DecisionModelV4Answer as DecisionAnswer,
  Experimental_DecisionModelV4 as DecisionModel,
} from '@ai-sdk/provider'
import { asSchema, type ModelMessage, type PrepareStepFunction, type ToolSet } from 'ai'
import { callsIn, lastText } from './adapters/ai-messages.ts'
import { callingModel } from './adapters/language-model-v4.ts'
import {
  isFinished,
  planTurn,
  readObservation,
  refuseMemory,
  requiredOf,
  type ToolPolicyOptions,
} from './adapters/tool-policy.ts'
import type { Agent } from './agent.ts'

export { toolPolicyModel } from './adapters/language-model-v4.ts'
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
 * `prepareStep` of AI SDK 7's `generateText` and `streamText`. Where the policy is sure, its tool is called without the language
 * model; where that has to write arguments or to choose, it gets the policy's tool, or the `keep` likeliest ones. The language
 * model then writes all arguments of the tool; with `toolPolicyModel`, only those that the policy does not choose.
 */
export function prepareToolStep<Tools extends ToolSet>(
  tools: Tools,
  options: ToolPolicyOptions<readonly ModelMessage[]>,
): PrepareStepFunction<Tools> {
  const { agent, isDone, onChoice } = options
  refuseMemory(agent)
  const offered = Object.keys(tools)
  const observe = options.observe ?? ((messages: readonly ModelMessage[]) => readObservation(agent, lastText(messages)))
  return async ({ messages }) => {
    if (isDone?.(messages) || isFinished(options, callsIn(messages))) return { activeTools: [], toolChoice: 'none' }
    const observation = observe(messages)
    const schemas = await schemasOf(tools)
    const plan = planTurn(agent, options, { observation, offered, required: (name) => requiredOf(schemas.get(name)) })
    const { policy, reason } = plan
    onChoice?.({ reason, policy, model: null, observation })
    if (plan.step === 'call') return { model: callingModel(plan.policy) }
    if (plan.tools === null) return {}
    // What was ranked are names of these tools.
    const kept = plan.tools as Extract<keyof Tools, string>[]
    // Named, as some models call another tool although only one is active.
    return { activeTools: kept, ...(kept.length === 1 && { toolChoice: { type: 'tool', toolName: kept[0] } }) }
  }
}

async function schemasOf(tools: ToolSet): Promise<Map<string, unknown>> {
  const entries = Object.entries(tools).map(async ([name, { inputSchema }]) => {
    return [name, await asSchema(inputSchema).jsonSchema] as const
  })
  return new Map(await Promise.all(entries))
}
